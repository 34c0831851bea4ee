internal import CTaskControl

/// A call of an observer that runs on the current thread. Events that the observer's code causes on this thread are not delivered to that observer.
///
/// Stored in a thread-local variable: reading a task-local value takes ten times as long, and takes a lock of the task.
final class ObserverCall: Sendable {
    /// The number of the observer that is called; `nil` if no observer may receive the events that the call causes.
    private let number: UInt64?
    /// The call of another observer inside which this call was made; `nil` if there is none.
    private let outer: ObserverCall?

    private init(_ number: UInt64?, within outer: ObserverCall?) {
        self.number = number
        self.outer = outer
    }

    /// The observer call inside which the current code runs on this thread; `nil` if there is none.
    static var current: ObserverCall? {
        tc_observerCall().map { Unmanaged<ObserverCall>.fromOpaque($0).takeUnretainedValue() }
    }

    static func of(_ observer: UInt64, within outer: ObserverCall?) -> ObserverCall {
        ObserverCall(observer, within: outer)
    }

    /// The value of ``current`` while the library calls the client's redaction closure or configured clock, or writes
    /// to the system's log. These are not calls of an observer, but no observer receives the events that they cause.
    static let excludingEverybody = ObserverCall(nil, within: nil)

    /// Returns whether an observer must not receive the events that this call causes.
    ///
    /// - Parameter observer: The number of the observer.
    func excludes(_ observer: UInt64) -> Bool {
        guard let number else { return true }
        return number == observer || outer?.excludes(observer) ?? false
    }

    func perform(_ body: () -> Void) { Self.perform(in: self, body) }

    /// Runs `body` as part of a call of an observer; if `call` is `nil`, as code that runs outside any observer call.
    static func perform(in call: ObserverCall?, _ body: () -> Void) {
        let former = tc_observerCall()
        withExtendedLifetime(call) {
            tc_setObserverCall(call.map { Unmanaged.passUnretained($0).toOpaque() })
            body()
            tc_setObserverCall(former)
        }
    }
}
