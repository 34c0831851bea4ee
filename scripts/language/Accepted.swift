// No line of this file breaks a rule. scripts/check-language checks itself with this file, which is never compiled.

/// Resumes all callers that wait, in the order of their calls.
///
/// The answer to a question such as "who owns it?" is in a comment: who owns the task? Which task is next? What does it cost?
///
/// - Parameter value: The value of the task. It is an error that says what failed. A caller, who may be cancelled, calls `tellWhoever(is: told)`.
///
/// ```swift
/// let nobody = whoever.isTold("but for ever")
/// ```
public func resume() {}

/// Returns the next part.
@inlinable public mutating func next() -> Int { fatalError("the reader must be cancelled first") }

/// Creates a handle.
@available(macOS 13, *)
public init() {}

/// Whether the task was cancelled.
public var isCancelled: Bool

/// A permit, as a value: it is released, and the line goes up by one. The mistake is to believe that a lock is enough.
public struct Permit {}

/// What the machine does next: an internal summary may begin with a question word only where a question mark ends it?
let log = "whoever reads this is told of it"

let text = """
    // Whoever reads this is told of it.
    """
