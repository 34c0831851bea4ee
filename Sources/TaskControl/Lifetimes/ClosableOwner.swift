/// An owner of this package. An extension of this protocol implements the two requirements of ``TaskOwner`` that wait,
/// with steps that each type of owner implements in its own way.
package protocol ClosableOwner: TaskOwner {
    /// Refuses later tasks, at the beginning of a shutdown. The present ones that run continue.
    ///
    /// - Parameter waiting: The rule for tasks that have not begun, and for further attempts of `retry` and `poll`.
    func refuse(waiting: WaitingWorkBehavior)

    /// Cancels every task for a cause.
    func cancelAll(for cause: CancellationCause)

    /// Cancels every task for a cause, at the end of the grace period of a shutdown, and waits until all tasks have
    /// ended, also if the caller is cancelled.
    ///
    /// - Returns: The names of the tasks that this call has cancelled.
    func cutOff(for cause: CancellationCause) async -> [String]

    /// Waits until all tasks have ended.
    ///
    /// - Parameter staysWhenCancelled: Whether a cancelled caller continues to wait; otherwise it receives an error.
    func drain(staysWhenCancelled: Bool) async throws(CancellationError)
}

// The requirements are documented in `TaskOwner`.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension ClosableOwner {
    public func drain() async throws(CancellationError) { try await drain(staysWhenCancelled: false) }

    @discardableResult
    public func shutdown(grace: Duration, waiting: WaitingWorkBehavior, clock: any Clock<Duration>) async -> [String] {
        refuse(waiting: waiting)
        await withTaskGroup { group in
            group.addTask { try? await self.drain(staysWhenCancelled: false) }
            group.addTask { if grace > .zero { try? await sleep(for: grace, on: clock) } }
            await group.next()
            group.cancelAll()
        }
        return await cutOff(for: .shutdown(name: name))
    }
}
