internal import CTaskControl

/// A call of an observer on the current thread. Events that the code in it causes on this thread are not delivered to that observer.
///
/// Kept per thread: a task-local takes ten times as long, and the runtime's lock of its task.
final class ObserverCall: Sendable {
    /// `nil`: every observer.
    private let number: UInt64?
    /// The call that this one was made within.
    private let outer: ObserverCall?

    private init(_ number: UInt64?, within outer: ObserverCall?) {
        self.number = number
        self.outer = outer
    }

    /// The code that runs now is called by an observer, or for all of them.
    static var current: ObserverCall? {
        tc_observerCall().map { Unmanaged<ObserverCall>.fromOpaque($0).takeUnretainedValue() }
    }

    static func of(_ observer: UInt64, within outer: ObserverCall?) -> ObserverCall {
        ObserverCall(observer, within: outer)
    }

    /// A call for the redaction and the clock, whose own events no observer receives.
    static let excludingEverybody = ObserverCall(nil, within: nil)

    /// Whether the observer must not receive the events of this call.
    func excludes(_ observer: UInt64) -> Bool {
        guard let number else { return true }
        return number == observer || outer?.excludes(observer) ?? false
    }

    func perform(_ body: () -> Void) { Self.perform(in: self, body) }

    /// Runs `body` as part of a call; `nil`: as part of none.
    static func perform(in call: ObserverCall?, _ body: () -> Void) {
        let former = tc_observerCall()
        withExtendedLifetime(call) {
            tc_setObserverCall(call.map { Unmanaged.passUnretained($0).toOpaque() })
            body()
            tc_setObserverCall(former)
        }
    }
}
