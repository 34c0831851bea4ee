import HTTPTypes
import Hummingbird
import TaskControl

/// Turns the errors of the layers below into responses.
struct FailureMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch is DeadlineExceededError {
            throw HTTPError(.gatewayTimeout, message: "The deadline has passed.")
        } catch is TimeoutError {
            throw HTTPError(
                .gatewayTimeout,
                message: "The supplier has not answered in time."
            )
        } catch let error as UnknownProductError {
            throw HTTPError(
                .notFound,
                message: "There is no product '\(error.product)'."
            )
        } catch let refusal as any RetryAdvising {
            // The circuit is open, or a limit is reached: the client learns when to
            // come back.
            let seconds = refusal.retryAfter?.wholeSeconds ?? 1
            let headers: HTTPFields = [.retryAfter: "\(seconds)"]
            throw HTTPError(
                .serviceUnavailable,
                headers: headers,
                message: "The supplier is not available."
            )
        } catch is SupplierFailure {
            throw HTTPError(.badGateway, message: "The supplier has failed.")
        }
    }
}

extension Duration {
    /// The seconds of this duration, rounded up, and at least one: the unit of `Retry-After`.
    fileprivate var wholeSeconds: Int64 {
        let (seconds, attoseconds) = components
        return max(1, attoseconds > 0 ? seconds + 1 : seconds)
    }
}
