/// A word that a state machine or a table keeps for its storage: a continuation, or a task that the storage does not retain. Only the storage knows
/// what the word is; for the machine it is a number. So machines and tables need not be generic over what they keep, and their tests use numbers.
///
/// Not zero, so that an optional word needs no more memory than a word. WordTests checks the casts.
@usableFromInline
package struct Word: BitwiseCopyable, Hashable, @unchecked Sendable {
    // A pointer, which is optional without more memory. Sendable, because it is a constant, and because a continuation and a task are Sendable.
    @usableFromInline let pointer: UnsafeRawPointer

    @export(implementation)
    init(_ pointer: UnsafeRawPointer) { self.pointer = pointer }

    /// Creates a word that stands for nothing, for the test of a machine. Traps for zero.
    package init(bits: UInt) { pointer = UnsafeRawPointer(bitPattern: bits)! }

    package var bits: UInt { UInt(bitPattern: pointer) }
}

extension Word {
    /// Creates the word of a waiter.
    @export(implementation)
    package init(_ waiter: UnsafeContinuation<WaitOutcome, Never>) {
        // The only stored property of a continuation is the address of its task.
        pointer = unsafeBitCast(waiter, to: UnsafeRawPointer.self)
    }

    /// Creates the word of a waiter that receives no outcome.
    @export(implementation)
    package init(_ waiter: UnsafeContinuation<Void, Never>) {
        pointer = unsafeBitCast(waiter, to: UnsafeRawPointer.self)
    }

    /// Creates the word of a waiter that receives a value of another type.
    package init<Value>(of waiter: UnsafeContinuation<Value, Never>) {
        pointer = unsafeBitCast(waiter, to: UnsafeRawPointer.self)
    }

    /// Resumes the waiter whose word this is, and which receives a value of exactly this type. Must be called once, and never while holding a lock.
    package func resume<Value: Sendable>(with value: Value) {
        unsafeBitCast(pointer, to: UnsafeContinuation<Value, Never>.self).resume(returning: value)
    }

    /// Resumes the waiter whose word this is, and which receives no outcome. Must be called once, and never while holding a lock.
    @export(implementation)
    package func resume() {
        unsafeBitCast(pointer, to: UnsafeContinuation<Void, Never>.self).resume()
    }

    /// Resumes the waiter whose word this is, and which receives an outcome. Must be called once, and never while holding a lock.
    @export(implementation)
    package func resume(returning outcome: WaitOutcome) {
        unsafeBitCast(pointer, to: UnsafeContinuation<WaitOutcome, Never>.self).resume(returning: outcome)
    }
}

extension Word {
    // A task is a reference to an object, whose address is a multiple of 16.
    private static var markBit: UInt { 1 }

    /// Creates the word of a task, which the word does not retain.
    ///
    /// - Parameter isMarked: A property of the task, which the word keeps.
    init(_ task: _TaskHandle, isMarked: Bool = false) {
        let address = UInt(bitPattern: unsafeBitCast(task, to: UnsafeRawPointer.self))
        self.init(bits: isMarked ? address | Self.markBit : address)
    }

    /// The word of the current task; `nil` outside tasks.
    static var running: Word? { TaskAddress.running.pointer.map { Word(UnsafeRawPointer($0)) } }

    /// The retained handle of the task whose word this is. The task must not have ended: code that reads this property holds a lock that the task
    /// needs before it ends.
    var task: _TaskHandle {
        let address = UnsafeRawPointer(bitPattern: bits & ~Self.markBit)!
        return unsafeBitCast(Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue(), to: _TaskHandle.self)
    }

    var isMarked: Bool { bits & Self.markBit != 0 }
}
