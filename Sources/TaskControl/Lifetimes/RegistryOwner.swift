/// An owner that stores its tasks in a ``TaskRegistry``. An extension of this protocol implements the requirements of
/// ``TaskOwner``.
protocol RegistryOwner: ClosableOwner {
    var registry: TaskRegistry { get }
}

// The requirements are documented in `TaskOwner`.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension RegistryOwner {
    public var name: String? { registry.name }

    public var count: Int { registry.liveCount }

    public func cancelAll() { registry.cancelAll(because: .requested(reason: nil)) }

    public func cancelAll(because reason: String) { registry.cancelAll(because: .requested(reason: reason)) }

    public func close() { registry.close() }

    package func refuse(waiting: WaitingWorkBehavior) { registry.refuse(waiting: waiting) }

    package func cutOff(for cause: CancellationCause, within limit: CancellationLimit?) async -> ShutdownReport {
        await registry.cutOff(because: cause, within: limit)
    }

    package func cancelAll(for cause: CancellationCause) { registry.cancelAll(because: cause) }

    package func drain(staysWhenCancelled: Bool) async throws(CancellationError) {
        try await registry.drain(staysWhenCancelled: staysWhenCancelled)
    }
}
