/// Something that happened to a task and that nobody else learns of: an event and, if it is a mistake, a line in the system's log.
enum TaskIncident: Sendable {
    /// The body threw, and there is no handler for it.
    case unhandledError(any Error, in: TaskOrigin)
    /// A task lost its last handle before anybody had chosen what it lives for, and was cancelled.
    case droppedWithoutOwner(TaskEvent.Identity?)
    /// A task that had been cancelled ended with another error than `CancellationError`: nearly always what its cancellation looks
    /// like from below, so it goes to observers and is not printed.
    case errorAfterCancellation(any Error, in: TaskOrigin)
    /// Work that was abandoned at its time limit has ended, and with what error.
    case abandonedWorkEnded((any Error)?, in: TaskOrigin)
    /// A callback API has let go of its callback; whoever waited was told, by the same error.
    case droppedContinuation(ContinuationDroppedError, TaskEvent.Identity?)
    /// A callback that came when the wait was over, and was ignored. The one that answers a cancellation goes to observers and is not
    /// printed.
    case excessCallback(CallbackContent, ExcessCallback, BridgePlace, TaskEvent.Identity?)
}

/// Where an error comes from that nobody receives.
package enum TaskOrigin: String, Sendable {
    case asyncTask = "AsyncTask"
    case lifetimeRun = "AsyncLifetime.run"
    case lifetimeForEach = "AsyncLifetime.forEach"
    case storeRun = "TaskStore.run"
    case withSingleFlight
    case singleFlight = "SingleFlight"
    case withDetachedTimeout
    case withCancellableContinuation
    case progressRunning = "Progress.running"

    package var primitive: TaskEvent.Primitive {
        switch self {
        case .asyncTask: .asyncTask
        case .lifetimeRun, .lifetimeForEach: .asyncLifetime
        case .storeRun: .taskStore
        case .withSingleFlight: .withSingleFlight
        case .singleFlight: .singleFlight
        case .withDetachedTimeout: .withDetachedTimeout
        case .withCancellableContinuation: .withCancellableContinuation
        case .progressRunning: .http
        }
    }

    /// Whether it is work for an owner: its task takes the error, and is told to have completed.
    var isForOwner: Bool {
        switch self {
        case .lifetimeRun, .lifetimeForEach, .storeRun: true
        default: false
        }
    }
}

extension TaskIncident {
    var event: TaskEvent {
        var event = plainEvent
        event.isMistake = isMistake
        return event
    }

    private var plainEvent: TaskEvent {
        switch self {
        case .unhandledError(let error, let origin):
            TaskEvent(origin.primitive, .unhandledError, error: Diagnostics.text(of: error), detail: origin.rawValue)
        case .droppedWithoutOwner(let subject):
            TaskEvent(.asyncTask, .dropped, subject: subject)
        case .errorAfterCancellation(let error, let origin):
            TaskEvent(
                origin.primitive,
                .errorAfterCancellation,
                error: Diagnostics.text(of: error),
                detail: origin.rawValue
            )
        case .abandonedWorkEnded(let error, let origin):
            TaskEvent(origin.primitive, .abandonedWorkEnded, error: error.map(Diagnostics.text))
        case .droppedContinuation(let error, let subject):
            TaskEvent(
                .withCancellableContinuation,
                .continuationDropped,
                subject: subject,
                detail: "\(error.fileID):\(error.line)"
            )
        case .excessCallback(let content, let excess, let place, let subject):
            TaskEvent(
                .withCancellableContinuation,
                excess.kind,
                subject: subject,
                error: content.error.map(Diagnostics.text),
                detail: place.text + (content.error == nil ? ", \(content)" : "")
            )
        }
    }

    /// Whether it is written to the system's log. The others are nearly always what a cancellation looks like from below.
    var isMistake: Bool {
        switch self {
        case .errorAfterCancellation, .abandonedWorkEnded(nil, _), .excessCallback(_, .afterCancellation, _, _): false
        case .abandonedWorkEnded(let error?, _): !(error is CancellationError)
        case .unhandledError, .droppedWithoutOwner, .droppedContinuation, .excessCallback: true
        }
    }

    /// What happened and what to do about it, without anything of the program's data.
    var text: String {
        switch self {
        case .unhandledError(_, let origin): "\(origin.rawValue): an error was thrown and nothing handles it"
        case .droppedWithoutOwner:
            "AsyncTask: dropped and cancelled; call .bind(to:), .store(in:) or .detached() where it is created, or keep it"
        case .errorAfterCancellation(_, let origin):
            "\(origin.rawValue): a cancelled task ended with an error other than CancellationError"
        case .abandonedWorkEnded(_, let origin):
            "\(origin.rawValue): work that was abandoned at its time limit has ended"
        case .droppedContinuation(let error, _): error.description
        case .excessCallback(let content, let excess, let place, _):
            "The continuation of withCancellableContinuation at \(place.text) was resumed \(excess), with "
                + "\(content.error == nil ? content.description : "an error"): ignored"
        }
    }

    /// The error that it is about. Its text may contain the program's data.
    var error: (any Error)? {
        switch self {
        case .unhandledError(let error, _), .errorAfterCancellation(let error, _): error
        case .abandonedWorkEnded(let error, _): error
        case .excessCallback(let content, _, _, _): content.error
        case .droppedWithoutOwner, .droppedContinuation: nil
        }
    }
}

extension ExcessCallback {
    fileprivate var kind: TaskEvent.Kind {
        switch self {
        case .again: .resumedAgain
        case .afterCancellation: .resumedAfterCancellation
        case .afterFailure: .resumedAfterFailure
        }
    }
}

extension CallbackContent {
    fileprivate var error: (any Error)? {
        if case .error(let error) = self { error } else { nil }
    }
}
