/// A reference to a task of any type, with which the task can be cancelled and escalated. The `value` of the handle
/// must not be awaited, because the value of the task may have another type.
@usableFromInline package typealias _TaskHandle = Task<Void, Never>

extension Task {
    /// This task as a ``_TaskHandle``, with which it can be cancelled and escalated. The `value` of the handle must not
    /// be awaited.
    @export(implementation) var handle: _TaskHandle {
        // A task is a reference to an object, whatever it returns.
        unsafeBitCast(self, to: _TaskHandle.self)
    }
}

extension Task {
    /// The address of the task. In the operation of the task, `TaskAddress.running` is equal to it. TaskHandleTests
    /// checks this.
    var address: TaskAddress {
        // The only stored property of a `Task` is a reference to an object of the runtime, so its bits are the address
        // of that object.
        TaskAddress(bits: UInt(bitPattern: unsafeBitCast(self, to: UnsafeRawPointer.self)))
    }
}

/// A reference to a running task, with which the task can be escalated.
package struct RunningTask: Sendable {
    private let handle: _TaskHandle

    /// A reference to the current task; `nil` outside tasks.
    package static var current: RunningTask? { _TaskHandle.running.map(RunningTask.init) }

    /// The word of the task, which does not retain it.
    var word: Word { Word(handle) }

    /// Escalates the task to a priority, if its priority is lower and the system supports it. Never call this function while holding a lock.
    package func raise(to priority: TaskPriority) { TaskControl.raise([handle], to: priority) }
}

extension Task where Failure == any Error {
    /// This task with the failure type `Never`. Only for a task whose operation does not throw. FunctionCastTests tests
    /// such tasks.
    ///
    /// All tasks of the runtime may throw. `Task.init` wraps an operation that does not throw in a closure that may
    /// throw, which costs an allocation and a stack frame. A task that is created with the failure type `any Error`
    /// needs neither.
    @export(implementation) var unfailing: Task<Success, Never> {
        unsafeBitCast(self, to: Task<Success, Never>.self)
    }
}

extension _TaskHandle {
    /// The current task; `nil` outside tasks.
    static var running: _TaskHandle? {
        // `address` is the address of the object of the runtime to which a `Task` is a reference. The object is alive,
        // because the task is running.
        TaskAddress.running.pointer.map { address in
            unsafeBitCast(Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue(), to: _TaskHandle.self)
        }
    }

    /// Returns the task with the type with which it was created, so that its value can be awaited. `type` must be the
    /// type of that value. DeliveryOutcomeTests tests such tasks.
    func task<Value: Sendable>(of type: Value.Type) -> Task<Value, Never> {
        unsafeBitCast(self, to: Task<Value, Never>.self)
    }
}
