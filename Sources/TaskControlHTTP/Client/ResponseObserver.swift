/// A closure that a client calls after each attempt.
///
/// ```swift
/// let observer: ResponseObserver = { request, response, body, error in
///     print(request?.url?.path ?? "–", response?.statusCode ?? 0, body?.count ?? 0, error ?? "")
/// }
/// ```
///
/// Its arguments are:
/// - The request, if the endpoint could make it, without the headers that the ``Authenticator`` attached.
/// - The head of the response, if there is one.
/// - The part of the body that has arrived; for a response that is streamed or written to a file, the part that the
///   endpoint's `validate` receives.
/// - The error, if the attempt failed; a `CancellationError` if the limit of the whole call has ended it.
///
/// Called once per attempt, regardless of its outcome, before the caller resumes; the attempts of a call follow one
/// another. It runs in the caller's isolation, and should return quickly. An upload or a request that is sent again, for
/// a retry or with a new credential, is another attempt. A call that was cancelled before it began has none.
public typealias ResponseObserver = @Sendable (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) -> Void
