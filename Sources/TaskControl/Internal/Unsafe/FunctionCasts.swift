// The casts that change the type of a function. In each cast, the parts of the type that change (`sending`,
// `@Sendable`, `isolated`) do not affect how a function is represented or called: only the compiler checks them.
// FunctionCastTests calls each result in its isolation, so a compiler with another representation fails the tests. The
// casts are from struct to struct, because a function that is passed to a generic function is wrapped in a thunk, which
// allocates.

// MARK: Operations that a caller sends

/// The type in which the library stores an operation that a client passes to it.
///
/// Parameters of the library's functions are `sending`, like those of `Task.init`, so that a closure may capture values
/// that are not Sendable. The library calls the operation once, in the task to which it was sent, so it may treat the
/// closure as `@Sendable`.
typealias Operation = @Sendable @isolated(any) () async -> Void
typealias ThrowingOperation = @Sendable @isolated(any) () async throws -> Void

// The types differ in `sending` and `@Sendable`. (Not a closure around the parameter:
// see scripts/workarounds/sending-isolation.swift.)

func received(_ operation: sending @escaping @isolated(any) () async -> Void) -> Operation {
    struct _Sent { let operation: @isolated(any) () async -> Void }
    struct _Received { let operation: Operation }
    return unsafeBitCast(_Sent(operation: operation), to: _Received.self).operation
}

func received(_ operation: sending @escaping @isolated(any) () async throws -> Void) -> ThrowingOperation {
    struct _Sent { let operation: @isolated(any) () async throws -> Void }
    struct _Received { let operation: ThrowingOperation }
    return unsafeBitCast(_Sent(operation: operation), to: _Received.self).operation
}

/// An operation without a result, which may throw or not.
///
/// The types of the two differ in how a function is called, but not in how it is stored, so an operation is called as the
/// type with which it was created. A conversion to the type that may throw would wrap the operation in a thunk: an
/// allocation and a frame.
struct StoredOperation: Sendable {
    private struct _Plain { let operation: Operation }
    private struct _Throwing { let operation: ThrowingOperation }

    private let operation: Operation
    private let mayThrow: Bool

    init(_ operation: @escaping Operation) {
        self.operation = operation
        mayThrow = false
    }

    init(_ operation: @escaping ThrowingOperation) {
        self.operation = unsafeBitCast(_Throwing(operation: operation), to: _Plain.self).operation
        mayThrow = true
    }

    /// The actor that the operation is isolated to; `nil` if there is none.
    var isolation: (any Actor)? { operation.isolation }

    @inline(__always)
    nonisolated(nonsending) func run() async throws {
        if mayThrow {
            try await unsafeBitCast(_Plain(operation: operation), to: _Throwing.self).operation()
        } else {
            await operation()
        }
    }
}

// For operations with a result, which already have the representation of functions of generic types.

@export(implementation)
func received<Success>(
    _ operation: sending @escaping @isolated(any) () async -> Success
) -> @Sendable @isolated(any) () async -> Success {
    unsafeBitCast(_Sent(operation: operation), to: _Received<Success>.self).operation
}

@export(implementation)
func received<Success>(
    _ operation: sending @escaping @isolated(any) () async throws -> Success
) -> @Sendable @isolated(any) () async throws -> Success {
    unsafeBitCast(_ThrowingSent(operation: operation), to: _ThrowingReceived<Success>.self).operation
}

@usableFromInline struct _Sent<Success> {
    @usableFromInline let operation: @isolated(any) () async -> Success

    @export(implementation) init(operation: @escaping @isolated(any) () async -> Success) { self.operation = operation }
}

@usableFromInline struct _Received<Success> {
    @usableFromInline let operation: @Sendable @isolated(any) () async -> Success
}

@usableFromInline struct _ThrowingSent<Success> {
    @usableFromInline let operation: @isolated(any) () async throws -> Success

    @export(implementation) init(operation: @escaping @isolated(any) () async throws -> Success) {
        self.operation = operation
    }
}

@usableFromInline struct _ThrowingReceived<Success> {
    @usableFromInline let operation: @Sendable @isolated(any) () async throws -> Success
}

// MARK: Functions that are isolated to an actor

@usableFromInline struct _IsolatedSpawn<Body: _TaskBody, Failure: Error> {
    @usableFromInline typealias Spawn =
        (isolated any Actor, String?, TaskPriority?, consuming Body) -> Task<Body.Success, Failure>
    @usableFromInline let spawn: Spawn

    @export(implementation) init(spawn: @escaping Spawn) { self.spawn = spawn }
}

@usableFromInline struct _PlainSpawn<Body: _TaskBody, Failure: Error> {
    @usableFromInline let spawn: (any Actor, String?, TaskPriority?, consuming Body) -> Task<Body.Success, Failure>
}

/// Removes `isolated` from the first parameter of a function that creates a task, so that it can be called without being on the actor. Safe because
/// the function uses no state of the actor.
@export(implementation)
@inline(__always)
func calledFromAnywhere<Body: _TaskBody, Failure: Error>(
    _ function: _IsolatedSpawn<Body, Failure>
) -> _PlainSpawn<Body, Failure> {
    unsafeBitCast(function, to: _PlainSpawn<Body, Failure>.self)
}

// MARK: Operations that a caller lends

@usableFromInline struct _LentRun<Value> {
    @usableFromInline typealias Operation = nonisolated(nonsending) @Sendable () async throws -> Value
    @usableFromInline typealias Run =
        nonisolated(nonsending) (Duration, Stopwatch, _CancelRegistration?, Operation) async throws -> Value

    @usableFromInline let run: Run

    @export(implementation)
    init(run: @escaping Run) { self.run = run }
}

@usableFromInline struct _BorrowingRun<Value> {
    @usableFromInline typealias Operation = nonisolated(nonsending) () async throws -> Value

    @usableFromInline typealias Run =
        nonisolated(nonsending) (Duration, Stopwatch, _CancelRegistration?, Operation) async throws -> Value

    @usableFromInline let run: Run
}

/// A closure that receives, before an operation begins, a closure that cancels the operation.
@usableFromInline typealias _CancelRegistration = @Sendable (@escaping @Sendable (CancellationCause) -> Void) -> Void

/// Removes `@Sendable` from the operation that a function takes as a parameter. Safe for a function that runs the
/// operation in a child task, in the caller's isolation, while the caller waits, and returns the result only to the
/// caller.
@export(implementation)
@inline(__always)
func borrowing<Value>(_ function: _LentRun<Value>) -> _BorrowingRun<Value> {
    unsafeBitCast(function, to: _BorrowingRun<Value>.self)
}

// The types and the cast for operations whose result is a `Result`, with one more parameter.

struct LentResultRun<Input, Value> {
    typealias Operation = nonisolated(nonsending) @Sendable () async throws -> Value

    let run: nonisolated(nonsending) (Input, Operation) async -> Result<Value, any Error>
}

struct BorrowingResultRun<Input, Value> {
    typealias Operation = nonisolated(nonsending) () async throws -> Value

    let run: nonisolated(nonsending) (Input, Operation) async -> Result<Value, any Error>
}

func borrowing<Input, Value>(_ function: LentResultRun<Input, Value>) -> BorrowingResultRun<Input, Value> {
    unsafeBitCast(function, to: BorrowingResultRun<Input, Value>.self)
}

// MARK: Closures that are stored under a lock

/// Adds `@Sendable` to a closure. Safe for a closure that is stored in the state of a ``Locked``, and is called at most
/// once, by the code that has removed it from this state.
func calledOnce(_ action: @escaping () -> Void) -> @Sendable () -> Void {
    unsafeBitCast(action, to: (@Sendable () -> Void).self)
}
