/// The code that a task of `run(for:)` of an ``AsyncLifetime`` runs. Inlinable, because it is generic over the value of
/// the work. The functions that need not be generic are in ``_DeliveryPlace``.
@usableFromInline
struct _DeliveryBody<Owner: AnyObject & Sendable, Value: Sendable>: _TaskBody {
    @usableFromInline let place: _DeliveryPlace
    @usableFromInline let owner: _WeakOwner<Owner>
    @usableFromInline let work: @Sendable () async throws -> Value
    @usableFromInline let deliver: @isolated(any) @Sendable (Owner, Value) async -> Void
    @usableFromInline let onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)?
    @usableFromInline let origin: _WorkOrigin

    @export(implementation)
    init(
        place: _DeliveryPlace,
        owner: consuming _WeakOwner<Owner>,
        work: @escaping @Sendable () async throws -> Value,
        deliver: @escaping @isolated(any) @Sendable (Owner, Value) async -> Void,
        onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)?,
        origin: _WorkOrigin
    ) {
        self.place = place
        self.owner = owner
        self.work = work
        self.deliver = deliver
        self.onError = onError
        self.origin = origin
    }

    @export(implementation)
    @inline(__always)
    nonisolated(nonsending) func run() async -> DeliveryOutcome {
        guard place.begin() else { return place.skip() }
        let outcome = await owner.perform(work, _IsolatedReceiver(deliver, onError), in: origin)
        place.end()
        return outcome
    }
}

/// The registration of a task without a key in a ``TaskRegistry``, for the exported code of ``_DeliveryBody``.
@usableFromInline
struct _DeliveryPlace: Sendable {
    let registry: TaskRegistry
    let id: TaskRegistry.ID

    @usableFromInline
    func attach(_ task: Task<DeliveryOutcome, Never>, _ name: String?) {
        registry.attach(id, RegisteredTask(handle: task.handle, isDelivery: true), name: name)
        registry.emitEntered(.added(id), name, nil)
    }

    /// Begins the work of the task, unless the task was cancelled.
    ///
    /// - Returns: Whether the work may run. If not, the task must call `skip()`.
    @usableFromInline
    func begin() -> Bool {
        guard registry.begin(id, isDelivery: true) == .run else { return false }
        registry.emit(.started, .entered(.running), id)
        return true
    }

    /// Ends a task that was cancelled before its work began.
    @usableFromInline
    func skip() -> DeliveryOutcome {
        let outcome = DeliveryOutcome.cancelled(registry.cause(ofSkipped: id))
        registry.leave(id, hasRun: false)
        return outcome
    }

    @usableFromInline
    func end() {
        registry.leave(id, hasRun: true)
    }
}
