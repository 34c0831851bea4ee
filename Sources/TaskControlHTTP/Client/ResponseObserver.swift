public import Foundation

/// A closure that a client calls after each attempt to send a request, with the request, the response and the error.
///
/// ```swift
/// let observer: ResponseObserver = { request, response, body, error in
///     print(request?.url?.path ?? "–", response?.statusCode ?? 0, body?.count ?? 0, error ?? "")
/// }
/// ```
///
/// The arguments of the closure are:
/// - The request, without the headers that the ``EndpointAuthenticator`` attached; `nil` if the endpoint could not create a
///   request.
/// - The head of the response; `nil` if it has not arrived.
/// - The part of the body that has arrived; for a response that is streamed or written to a file, the part that the
///   endpoint's `validate` receives. `nil` if there is no such part.
/// - The error, if the attempt failed; otherwise `nil`. A `CancellationError` if the caller was cancelled, or if the
///   call reached ``ClientPolicies/timeout``.
///
/// The closure is called once per attempt, whether it succeeded or failed, and before the caller resumes. The attempts
/// of a call do not overlap. The closure is called in the caller's isolation, and should return quickly.
///
/// Each time that a request is sent again, for example for a retry or with a new credential, counts as another attempt.
/// A request that cannot be created counts as a failed attempt. A call that ends earlier, because its caller is already
/// cancelled or because ``ClientPolicies/resilience`` refuses the call before its first request, has no attempt.
public typealias ResponseObserver = @Sendable (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) -> Void
