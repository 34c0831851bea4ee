/// The object that all copies of one continuation retain. Its `deinit` notifies the bridge that the last copy was released.
///
/// Separate from the bridge: the waiting caller keeps the bridge alive, so the `deinit` of the bridge could never report a dropped callback.
///
/// It is Sendable because its properties are constant, and the property of its subclass is protected by the bridge's lock.
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

    /// Passes the result of a callback to the bridge, and reports a callback that the bridge ignores.
    ///
    /// - Parameters:
    ///   - callback: The content of the callback, for diagnostics. Evaluated only if the callback is ignored.
    ///   - store: Stores the result in this token. Called under the lock, and only for the first callback.
    @usableFromInline
    final func finish(_ callback: @autoclosure () -> _CallbackContent, _ store: () -> Void) {
        guard let excess = bridge.finish(self, store) else { return }
        report(excess, callback())
    }
}

extension _BridgeToken {
    /// Emits the event that ends the call of `withCancellableContinuation`.
    ///
    /// - Parameter error: The error that the caller receives; `nil` if it receives a value.
    @usableFromInline
    final func emitEnd(_ error: (any Error)?) {
        guard let events = bridge.events else { return }
        if let error { events.end(.failed, .failed, error: error) } else { events.end(.completed, .completed) }
    }

    /// Reports a callback that was ignored. A callback after a cancellation, to which it is usually the response, is
    /// emitted as an ordinary event, and so is a repeated one that is expected; every other one is reported as a mistake
    /// in the program.
    ///
    /// - Parameters:
    ///   - excess: The reason why the callback was ignored.
    ///   - content: The type of its value, or its error.
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
        if excess == .afterCancellation || excess == .again && !place.reportsRepetition {
            return Diagnostics.emit(event())
        }
        Diagnostics.report(
            event(),
            error: content.error,
            advice: "The continuation of withCancellableContinuation at \(place.text) was resumed \(excess), with "
                + "\(content.error == nil ? content.description : "an error"): ignored"
        )
    }
}

/// A token that holds the result of the callback.
///
/// It is Sendable because the result is written once, under the lock of the bridge, and the caller reads it only after it has found under that lock
/// that the bridge has ended.
@usableFromInline
final class _TypedBridgeToken<Value>: _BridgeToken, @unchecked Sendable {
    @usableFromInline var result: Result<Value, any Error>?

    @export(implementation)
    override init(_ bridge: _Bridge, _ place: _BridgePlace) {
        super.init(bridge, place)
    }

    /// Returns the value or throws the error of the callback, and emits the end of the call. If the caller is
    /// cancelled, this function throws `CancellationError` instead of the error. Called once, by the caller of
    /// `withCancellableContinuation`, so no other code has the value.
    @export(implementation)
    func take() throws -> sending Value {
        // Taken out, so that no other code has the result: the caller takes it once, after the end.
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

/// The content of a callback, for diagnostics: the type of the value, or the error.
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

/// The file and line of a call of `withCancellableContinuation`, for diagnostics.
@usableFromInline
struct _BridgePlace: Sendable {
    let fileID: StaticString
    let line: Int
    /// Whether a callback after the first one is reported as a mistake.
    let reportsRepetition: Bool

    @usableFromInline
    init(fileID: StaticString, line: Int, reportsRepetition: Bool) {
        self.fileID = fileID
        self.line = line
        self.reportsRepetition = reportsRepetition
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
