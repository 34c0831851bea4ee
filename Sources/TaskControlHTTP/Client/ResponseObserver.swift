/// A closure that a client calls after each attempt.
///
/// ```swift
/// let observer: ResponseObserver = { request, response, body, error in
///     print(request?.url?.path ?? "–", response?.statusCode ?? 0, body?.count ?? 0, error ?? "")
/// }
/// ```
///
/// The arguments of the closure are:
/// - The request, without the headers that the ``Authenticator`` attached; `nil` if the endpoint could not create one.
/// - The head of the response; `nil` if none has arrived.
/// - The part of the body that has arrived; for a response that is streamed or written to a file, the part that the
///   endpoint's `validate` receives. `nil` if there is none.
/// - The error, if the attempt failed; otherwise `nil`. A `CancellationError` if the caller was cancelled, or if the
///   call reached ``ClientPolicies/timeLimit``.
///
/// The closure is called once per attempt, regardless of its outcome, before the caller resumes; the attempts of a call
/// follow one another. It is called in the caller's isolation, and should return quickly. Each time that a request is
/// sent again, for a retry or with a new credential, is another attempt. A call that was cancelled before it began has
/// no attempt.
public typealias ResponseObserver = @Sendable (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) -> Void
