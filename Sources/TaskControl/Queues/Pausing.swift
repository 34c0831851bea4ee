// The pause of each type of queue. It is documented in `FIFOQueue`.

extension FIFOQueue {
    /// Whether ``pause()`` was called, and ``resume()`` was not called since.
    public var isPaused: Bool { _turns.isPaused }

    /// Lets no later turn come until ``resume()`` is called. A task whose turn has come begins, or continues; tasks can be
    /// added, and wait, as calls of `run` do. A second call has no effect.
    ///
    /// ```swift
    /// saves.pause()       // offline: what is being sent ends, and nothing else begins
    /// ```
    ///
    /// A task can pause the queue in which it runs. Waiting tasks can be cancelled as usual. `drain()` waits for the tasks of
    /// a paused queue, so it returns after ``resume()``, or when they or its caller are cancelled.
    ///
    /// - Complexity: O(1).
    public func pause() { _turns.pause() }

    /// Ends the pause: waiting tasks begin in their order. Has no effect if the queue is not paused.
    ///
    /// - Complexity: O(1).
    public func resume() { _turns.resume() }
}

extension ConcurrentQueue {
    /// Whether ``pause()`` was called, and ``resume()`` was not called since.
    public var isPaused: Bool { _turns.isPaused }

    /// Lets no later turn come until ``resume()`` is called: see ``FIFOQueue/pause()``.
    public func pause() { _turns.pause() }

    /// Ends the pause: waiting tasks begin in their order. Has no effect if the queue is not paused.
    public func resume() { _turns.resume() }
}

extension ActorQueue {
    /// Whether ``pause()`` was called, and ``resume()`` was not called since.
    public var isPaused: Bool { _turns.isPaused }

    /// Lets no later turn come until ``resume()`` is called: see ``FIFOQueue/pause()``.
    public func pause() { _turns.pause() }

    /// Ends the pause: waiting tasks begin in their order. Has no effect if the queue is not paused.
    public func resume() { _turns.resume() }
}

extension CancellableQueue {
    /// Whether ``pause()`` was called, and ``resume()`` was not called since.
    public var isPaused: Bool { turns.isPaused }

    /// Lets no later turn come until ``resume()`` is called: see ``FIFOQueue/pause()``. The underlying queue is paused,
    /// also for tasks that do not come through this object. Closing this object ends the pause, and so does the end of the
    /// grace period of ``TaskOwner/shutdown(grace:waiting:cancellationGrace:clock:)``.
    public func pause() { turns.pause() }

    /// Ends the pause: waiting tasks begin in their order. Has no effect if the queue is not paused.
    public func resume() { turns.resume() }
}
