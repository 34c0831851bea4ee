/// A task of any type, as registries keep it: to cancel it, and to raise it.
@usableFromInline typealias _TaskHandle = Task<Void, Never>

extension Task {
    /// This task, in a type that many have. Only for what can be done to every task: its value must not be asked for.
    @inlinable var handle: _TaskHandle {
        // A task is a reference to an object, whatever it returns.
        unsafeBitCast(self, to: _TaskHandle.self)
    }
}

extension Task {
    /// The address of the task, which is that of the running task inside its operation. (TaskHandleTests compares the two.)
    var address: TaskAddress {
        // A task is a struct of nothing but a reference to the object of the runtime, so its bits are the address of that object.
        TaskAddress(bits: UInt(bitPattern: unsafeBitCast(self, to: UnsafeRawPointer.self)))
    }
}

/// A running task, to raise it.
package struct RunningTask: Sendable {
    private let handle: _TaskHandle

    /// The running task; `nil` outside of tasks.
    package static var current: RunningTask? {
        // A task is a reference to an object of the runtime, whose address this is. The object lives: it is running.
        TaskAddress.running.pointer.map { address in
            let object = Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue()
            return RunningTask(handle: unsafeBitCast(object, to: _TaskHandle.self))
        }
    }

    /// Raises the task to a priority, if it has less and the system supports it. Never call this function while holding a lock.
    package func raise(to priority: TaskPriority) { TaskControl.raise([handle], to: priority) }
}

extension Task where Failure == any Error {
    /// This task as one that cannot fail. Only for a task whose operation does not throw. (FunctionCastTests awaits such a task in all ways.)
    ///
    /// The runtime has one kind of task, which may throw: `Task.init` wraps an operation that cannot throw in a closure that could, which costs an
    /// allocation and a frame. A task that is created as one that could throw has neither.
    @inlinable var unfailing: Task<Success, Never> {
        unsafeBitCast(self, to: Task<Success, Never>.self)
    }
}

extension _TaskHandle {
    /// The task in the type that it was created with: only for the handle of such a task. (DeliveryOutcomeTests awaits its value.)
    func task<Value: Sendable>(of type: Value.Type) -> Task<Value, Never> {
        unsafeBitCast(self, to: Task<Value, Never>.self)
    }

    /// A task that is not retained: use it only while it is known to live.
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
