/// The handle of a registered task, which remembers the type of the task's value: a task must be awaited as the type
/// with which it was created.
///
/// Consists of a reference and a flag. Retaining and releasing an enumeration of two references would take several times as many instructions.
struct RegisteredTask: Hashable, Sendable {
    /// The task without the type of its value, for operations that a task of any type supports: to cancel, escalate and
    /// compare it.
    let handle: _TaskHandle
    private let isDelivery: Bool

    /// Creates the handle of a task that has no value or, if `isDelivery`, was created by `run(for:)` or
    /// `forEach(_:for:)`.
    init(handle: _TaskHandle, isDelivery: Bool) {
        self.handle = handle
        self.isDelivery = isDelivery
    }

    /// Returns the handle of a task without a value, or of a task that was created elsewhere and whose value is not awaited.
    static func plain(_ task: _TaskHandle) -> Self { Self(handle: task, isDelivery: false) }

    /// Returns the task, if its value is that of a task that runs `Work`; otherwise `nil`.
    func task<Work: OwnedWork>(of _: Work.Type) -> Task<Work.Success, Never>? {
        isDelivery == Work.isDelivery ? handle.task(of: Work.Success.self) : nil
    }

    var isCancelled: Bool { handle.isCancelled }

    func cancel() { handle.cancel() }

    /// Waits for the end of a task that the registry has created.
    ///
    /// - Returns: The outcome of the task; `duplicate` if it has none, because `run(for:)` or `forEach(_:for:)` did not
    ///   create it.
    func waitForEnd() async -> DeliveryOutcome {
        if isDelivery { return await handle.task(of: DeliveryOutcome.self).value }
        await handle.value
        return .duplicate
    }

    /// The word by which the machine of a registry refers to the task, without retaining it.
    var word: Word { Word(handle, isMarked: isDelivery) }

    /// Creates the retained handle of a task whose `word` is given.
    ///
    /// The task is known to be alive only while it is registered: it is removed from the registry before it ends, by
    /// the task itself or by an object that retains the task. So the lock of the registry must be held.
    init(_ word: Word) { self.init(handle: word.task, isDelivery: word.isMarked) }
}

/// The code that a registered task runs. It waits until the ``TaskStoreDuplicateKeyBehavior`` lets the task begin, runs
/// the work, and removes the task from the registry.
struct OwnedBody<Work: OwnedWork>: _TaskBody {
    let registry: TaskRegistry
    let id: TaskRegistry.ID
    let work: Work

    @inline(__always)
    nonisolated(nonsending) func run() async -> Work.Success {
        let mayRun =
            switch registry.begin(id, isDelivery: Work.isDelivery) {
            case .run: true
            case .skip: false
            case .wait, .quiet, .throttle: await registry.waitAndBegin(id, isDelivery: Work.isDelivery)
            }
        guard mayRun else {
            let value = Work.value(.cancelled(Work.isDelivery ? registry.cause(ofSkipped: id) : .unknown))
            await work.notify?(value)
            registry.leave(id, hasRun: false)
            return value
        }
        registry.emit(.started, .entered(.running), id)
        let value = await work.run()
        registry.leave(id, hasRun: true)
        return value
    }
}

extension TaskRegistry {
    /// Removes the current task from the registry, and emits the event of its end. Called when the work of the task has
    /// ended, or was skipped because the task was cancelled.
    ///
    /// - Parameters:
    ///   - id: The ID of the current task.
    ///   - hasRun: Whether the work of the task has run.
    func leave(_ id: ID, hasRun: Bool) {
        let moment = Diagnostics.moment
        if !hasRun || _isTaskCancelled { noteName(id) }
        finish(id)
        CancellationCauses.forget(.running)
        emitEnd(of: id, hasRun: hasRun, at: moment)
    }
}

/// The work of a task that is registered with an owner, such as an ``AsyncLifetime`` or ``TaskStore``.
protocol OwnedWork: _TaskBody where Failure == Never {
    /// The actor that the work is isolated to; `nil` if there is none.
    var isolation: (any Actor)? { get }

    /// Receives the value of the task in the task itself, if its work does not begin; `nil` for most work.
    var notify: (@Sendable (Success) async -> Void)? { get }

    /// Whether the value of a task with this work is a `DeliveryOutcome`; otherwise the task has no value.
    static var isDelivery: Bool { get }

    /// Returns the value of a task with an outcome.
    static func value(_ outcome: DeliveryOutcome) -> Success
}

extension OwnedWork {
    var notify: (@Sendable (Success) async -> Void)? { nil }
}

extension OwnedWork where Success == Void {
    static var isDelivery: Bool { false }

    static func value(_ outcome: DeliveryOutcome) {}
}

extension OwnedWork where Success == DeliveryOutcome {
    static var isDelivery: Bool { true }

    static func value(_ outcome: DeliveryOutcome) -> DeliveryOutcome { outcome }
}

/// The work of a task without a value: an operation, whose error is passed to `onError` or reported to diagnostics.
struct OwnedOperation: OwnedWork {
    private let operation: StoredOperation
    private let origin: _WorkOrigin
    private let onError: (@isolated(any) @Sendable (any Error) async -> Void)?

    /// Creates the work of a task.
    ///
    /// - Parameters:
    ///   - operation: The operation that the task runs.
    ///   - origin: The public function that starts the task, for the report of an error.
    ///   - onError: Receives the error of the operation. If `nil`, the error is reported to diagnostics.
    init(
        _ operation: StoredOperation,
        in origin: _WorkOrigin,
        onError: (@isolated(any) @Sendable (any Error) async -> Void)? = nil
    ) {
        self.operation = operation
        self.origin = origin
        self.onError = onError
    }

    var isolation: (any Actor)? { operation.isolation }

    @inline(__always)
    nonisolated(nonsending) func run() async {
        do {
            try await operation.run()
        } catch {
            await settle(error, in: origin.origin, onError)
        }
    }
}

/// The work of a task that passes its result or its elements to an object, as in `run(for:)` and `forEach(_:for:)`.
struct DeliveryWork: OwnedWork {
    let operation: @Sendable () async -> DeliveryOutcome
    /// Passes the outcome of work that does not begin to the `onEnd` closure of the object; `nil` if there is none. Work
    /// that begins passes its outcome itself. The notification is a part of the task, as `deliver` is: the task is
    /// registered until it has returned.
    var notify: (@Sendable (DeliveryOutcome) async -> Void)?

    var isolation: (any Actor)? { nil }

    nonisolated(nonsending) func run() async -> DeliveryOutcome { await operation() }
}

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
        registry.attach(id, RegisteredTask(handle: task.handle, isDelivery: true))
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
