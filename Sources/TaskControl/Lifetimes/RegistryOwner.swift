/// An owner that stores its tasks in a ``TaskRegistry``, as every owner of this library does. An extension of this
/// protocol implements the requirements of ``TaskOwner``.
protocol RegistryOwner: TaskOwner {
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

    public func drain() async throws(CancellationError) { try await registry.drain() }

    public func shutdown(grace: Duration, clock: any Clock<Duration>) async {
        registry.refuse()
        await withTaskGroup { [registry] group in
            group.addTask { try? await registry.drain() }
            group.addTask { if grace > .zero { try? await sleep(for: grace, on: clock) } }
            await group.next()
            group.cancelAll()
        }
        registry.cancelAll(because: .shutdown(name: name))
        // Never throws, because a cancelled caller continues to wait.
        try? await registry.drain(staysWhenCancelled: true)
    }
}
