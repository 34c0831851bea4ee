/// An owner of this package. An extension of this protocol implements the two requirements of ``TaskOwner`` that wait,
/// with three steps that each type of owner implements in its own way.
package protocol ClosableOwner: TaskOwner {
    /// Refuses later tasks. The present ones continue.
    func refuse()

    /// Cancels every task for a cause.
    func cancelAll(for cause: CancellationCause)

    /// Waits until all tasks have ended.
    ///
    /// - Parameter staysWhenCancelled: Whether a cancelled caller continues to wait; otherwise it receives an error.
    func drain(staysWhenCancelled: Bool) async throws(CancellationError)
}

// The requirements are documented in `TaskOwner`.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension ClosableOwner {
    public func drain() async throws(CancellationError) { try await drain(staysWhenCancelled: false) }

    public func shutdown(grace: Duration, clock: any Clock<Duration>) async {
        refuse()
        await withTaskGroup { group in
            group.addTask { try? await self.drain(staysWhenCancelled: false) }
            group.addTask { if grace > .zero { try? await sleep(for: grace, on: clock) } }
            await group.next()
            group.cancelAll()
        }
        cancelAll(for: .shutdown(name: name))
        // Never throws, because a cancelled caller continues to wait.
        try? await drain(staysWhenCancelled: true)
    }
}
