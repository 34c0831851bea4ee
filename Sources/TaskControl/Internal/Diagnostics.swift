#if canImport(Darwin)
private import Darwin
#elseif canImport(Glibc)
private import Glibc
#elseif canImport(Musl)
private import Musl
#elseif canImport(Android)
private import Android
#else
#error("TaskControl needs the C library's write(2); this platform's C library is not known to it.")
#endif

/// Something that happened to a task and that nobody else is told (law 13).
enum TaskIncident: Sendable {
    /// The body threw, and there is no handler for it.
    case unhandledError(any Error, in: StaticString)
    /// A task lost its last handle before anybody had chosen what it lives for, and was cancelled.
    case droppedWithoutOwner
    /// A task that had been cancelled ended with another error than `CancellationError`: nearly always what its cancellation looks
    /// like from below, so it goes to observers and is not printed.
    case errorAfterCancellation(any Error, in: StaticString)
    /// Work that was abandoned at its time limit has ended, and with what error.
    case abandonedWorkEnded((any Error)?, in: StaticString)
    /// A callback API has let go of its callback; whoever waited was told, by the same error.
    case droppedContinuation(ContinuationDroppedError)
    /// A callback that came when the wait was over, and was ignored. The one that answers a cancellation goes to observers and is not
    /// printed.
    case excessCallback(CallbackContent, ExcessCallback, BridgePlace)
}

extension TaskIncident: CustomStringConvertible {
    var description: String {
        switch self {
        case .unhandledError(let error, let origin):
            "\(origin): nobody handles the error that a task threw: \(error)"
        case .droppedWithoutOwner:
            "AsyncTask: dropped and cancelled; choose .bind(to:), .store(in:) or .detached() where it is created, or keep it."
        case .errorAfterCancellation(let error, let origin):
            "\(origin): a cancelled task ended with another error than CancellationError: \(error)"
        case .abandonedWorkEnded(let error, let origin):
            "\(origin): work that was abandoned has ended" + (error.map { ": \($0)" } ?? ".")
        case .droppedContinuation(let error):
            error.description
        case .excessCallback(let content, let excess, let place):
            "The continuation of withCancellableContinuation at \(place.fileID):\(place.line) was resumed \(excess), with \(content): ignored."
        }
    }
}

/// Where incidents go. Never called with a lock held.
enum Diagnostics {
    private static let observer = Locked<(@Sendable (TaskIncident, _ taskName: String?) -> Void)?>(nil)

    /// Hands incidents to somebody else than standard error; `nil` undoes that.
    static func observe(_ observer: (@Sendable (TaskIncident, _ taskName: String?) -> Void)?) {
        // The old one is let go outside the lock.
        let old = Self.observer.withLock { current in
            defer { current = observer }
            return current
        }
        withExtendedLifetime(old) {}
    }

    static func report(_ incident: TaskIncident, taskName: String? = nil) {
        if let observer = observer.withLock({ $0 }) { return observer(incident, taskName) }
        #if DEBUG
        // Mostly what cancellation looks like from below: for observers, and not printed.
        switch incident {
        case .errorAfterCancellation, .abandonedWorkEnded(nil, _), .excessCallback(_, .afterCancellation, _): return
        case .abandonedWorkEnded(let error?, _) where error is CancellationError: return
        default: break
        }
        let line = "TaskControl: \(incident)" + (taskName.map { " (task \($0))" } ?? "") + "\n"
        line.utf8.withContiguousStorageIfAvailable { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
        #endif
    }

    /// The name of the task that asks, where the platform lets it be read.
    static var currentTaskName: String? {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { Task.name } else { nil }
    }
}
