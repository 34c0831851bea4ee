/// A reference to a task of any type, with which the task can be cancelled and escalated. Its value must not be awaited: the type of the value may be
/// another one.
@usableFromInline package typealias _TaskHandle = Task<Void, Never>

extension Task {
    /// This task as a ``_TaskHandle``, with which it can be cancelled and escalated. The value of the handle must not be awaited.
    @inlinable var handle: _TaskHandle {
        // A task is a reference to an object, whatever it returns.
        unsafeBitCast(self, to: _TaskHandle.self)
    }
}

extension Task {
    /// The address of the task, which inside its operation is equal to `TaskAddress.running`. TaskHandleTests checks this.
    var address: TaskAddress {
        // A task is a struct of nothing but a reference to the object of the runtime, so its bits are the address of that object.
        TaskAddress(bits: UInt(bitPattern: unsafeBitCast(self, to: UnsafeRawPointer.self)))
    }
}

/// A reference to a running task, with which it can be escalated.
package struct RunningTask: Sendable {
    private let handle: _TaskHandle

    /// The current task; `nil` outside of tasks.
    package static var current: RunningTask? {
        // A task is a reference to an object of the runtime, whose address this is. The object lives: it is running.
        TaskAddress.running.pointer.map { address in
            let object = Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue()
            return RunningTask(handle: unsafeBitCast(object, to: _TaskHandle.self))
        }
    }

    /// Escalates the task to a priority, if its priority is lower and the system supports it. Never call this function while holding a lock.
    package func raise(to priority: TaskPriority) { TaskControl.raise([handle], to: priority) }
}

extension Task where Failure == any Error {
    /// This task with the failure type `Never`. Only for a task whose operation does not throw. FunctionCastTests awaits such a task in all ways.
    ///
    /// The runtime has one kind of task, which may throw. `Task.init` wraps an operation that cannot throw in a closure that can, which costs an
    /// allocation and a frame. A task that is created as one that may throw has neither.
    @inlinable var unfailing: Task<Success, Never> {
        unsafeBitCast(self, to: Task<Success, Never>.self)
    }
}

extension _TaskHandle {
    /// Returns the task in the type with which it was created: only for the handle of a task of that type. DeliveryOutcomeTests awaits the value.
    func task<Value: Sendable>(of type: Value.Type) -> Task<Value, Never> {
        unsafeBitCast(self, to: Task<Value, Never>.self)
    }

    /// A reference that does not retain the task. It must be used only while the task is known not to have ended.
    struct Unowned: @unchecked Sendable {
        // Sendable, as the task is: this is its address, and code that makes an owned handle of it holds the lock under which the task is
        // known to live. The casts are between references to one object: a task, and a struct of nothing but that reference.
        private let task: Unmanaged<AnyObject>

        init(_ task: _TaskHandle) {
            self.task = .passUnretained(unsafeBitCast(task, to: AnyObject.self))
        }

        var owned: _TaskHandle {
            unsafeBitCast(task.takeUnretainedValue(), to: _TaskHandle.self)
        }
    }
}
