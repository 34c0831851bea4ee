import Foundation
import HTTPTypes
import Hummingbird
import TaskControl
import TaskControlHTTP

/// Gives each request a deadline: the one that the client has sent in a header, or that of the server, whichever is earlier.
struct DeadlineMiddleware<Context: RequestContext>: RouterMiddleware {
    let header: DeadlineHeader
    /// The longest time that a request may take. Without it, a request without a
    /// header could take forever, and so could the shutdown.
    let maximum: Duration
    let clock: any Clock<Duration>

    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let value = HTTPField.Name(header.name).flatMap { request.headers[$0] }
        let deadline = Deadline(
            in: header,
            value: value,
            atMost: maximum,
            clock: clock
        )
        return try await withDeadline(deadline) { try await next(request, context) }
    }
}

extension Deadline {
    /// Creates the deadline of a request: that of the client, if it has sent one,
    /// but not later than that of the server.
    fileprivate init(
        in header: DeadlineHeader,
        value: String?,
        atMost maximum: Duration,
        clock: any Clock<Duration>
    ) {
        let latest = Deadline(in: maximum, clock: clock)
        let sent = Deadline(remaining: value, in: header, clock: clock)
        self = sent.map { .earlier($0, latest) } ?? latest
    }
}
