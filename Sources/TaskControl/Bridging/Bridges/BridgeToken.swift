/// The object that the copies of one continuation share: it is deallocated with the last copy, and reports that.
///
/// Separate from the bridge: the waiting caller keeps the bridge alive, so the `deinit` of the bridge could never report a dropped callback.
///
/// Sendable: its properties are constant; those of its subclass are protected by the bridge's lock.
@usableFromInline
class _BridgeToken: @unchecked Sendable {
    fileprivate let bridge: _Bridge
    private let place: _BridgePlace

    @usableFromInline
    init(_ bridge: _Bridge, _ place: _BridgePlace) {
        self.bridge = bridge
        self.place = place
    }

    deinit {
        bridge.drop()
    }

    /// - Parameters:
    ///   - callback: The result that it brings, for diagnostics.
    ///   - store: Keeps the result. Called under the lock, if this is the first.
    @usableFromInline
    final func finish(_ callback: @autoclosure () -> _CallbackContent, _ store: () -> Void) {
        guard let excess = bridge.finish(self, store) else { return }
        report(excess, callback())
    }
}

extension _BridgeToken {
    /// Passes the result to the caller.
    @usableFromInline
    final func emitEnd(_ error: (any Error)?) {
        guard let events = bridge.events else { return }
        if let error { events.end(.failed, .failed, error: error) } else { events.end(.completed, .completed) }
    }

    /// Reports a callback that was ignored. A callback after a cancellation usually responds to it, and is no mistake.
    private func report(_ excess: ExcessCallback, _ content: _CallbackContent) {
        func event() -> TaskEvent {
            TaskEvent(
                .withCancellableContinuation,
                excess.kind,
                subject: bridge.events?.subject,
                error: content.error,
                detail: place.text + (content.error == nil ? ", \(content)" : "")
            )
        }
        if excess == .afterCancellation { return Diagnostics.emit(event()) }
        Diagnostics.report(
            event(),
            error: content.error,
            advice: "The continuation of withCancellableContinuation at \(place.text) was resumed \(excess), with "
                + "\(content.error == nil ? content.description : "an error"): ignored"
        )
    }
}

/// Sendable: the result is written under the lock of the bridge, once, and read by the caller after it has seen the end under that lock.
@usableFromInline
final class _TypedBridgeToken<Value>: _BridgeToken, @unchecked Sendable {
    @usableFromInline var result: Result<Value, any Error>?

    @inlinable
    override init(_ bridge: _Bridge, _ place: _BridgePlace) {
        super.init(bridge, place)
    }

    /// Passes the value to the caller, which alone has it: it was sent.
    @inlinable
    func take() throws -> sending Value {
        // Taken out: no other code has it, since the caller takes it once, after the end.
        nonisolated(unsafe) let result = result.take()
        switch result {
        case .success(let value):
            emitEnd(nil)
            return value
        case .failure(let error):
            emitEnd(error)
            // A cancelled caller receives CancellationError, whatever was thrown.
            try Task.checkCancellation()
            throw error
        case nil:
            preconditionFailure("A callback that finishes the bridge has a result.")
        }
    }
}

/// The content of a callback.
@usableFromInline
enum _CallbackContent: Sendable, CustomStringConvertible {
    case value(Any.Type)
    case error(any Error)

    @usableFromInline var description: String {
        switch self {
        case .value(let type): "a value of the type \(type)"
        case .error(let error): "the error \(error)"
        }
    }
}

/// The location of the call, for diagnostics.
@usableFromInline
struct _BridgePlace: Sendable {
    let fileID: StaticString
    let line: Int

    @usableFromInline
    init(fileID: StaticString, line: Int) {
        self.fileID = fileID
        self.line = line
    }

    var text: String { "\(fileID):\(line)" }
}

extension _CallbackContent {
    fileprivate var error: (any Error)? {
        if case .error(let error) = self { error } else { nil }
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
