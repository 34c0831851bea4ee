/// An error that states whether another attempt could succeed.
///
/// ```swift
/// enum UploadError: Error, RetryClassifying {
///     case tooLarge, connectionLost
///
///     var isWorthRetrying: Bool { self == .connectionLost }      // a file that is too large stays too large
/// }
/// ```
///
/// ``RetryPolicy/isWorthRetrying(_:)``, the default judgement of every policy, returns what the error states.
public protocol RetryClassifying: Error {
    /// Whether another attempt could succeed.
    var isWorthRetrying: Bool { get }
}
