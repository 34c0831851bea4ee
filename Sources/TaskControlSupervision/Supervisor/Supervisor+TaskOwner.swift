public import TaskControl

extension Supervisor: TaskOwner {
    /// The number of children that have not ended and are not being stopped.
    ///
    /// - Complexity: O(*n* log *n*).
    public var count: Int { engine.state.withLock { $0.machine.count } }

    /// Cancels every child at once, in no particular order and without a grace period. No child is restarted.
    ///
    /// The supervisor stays open: children that are added later are not affected. However, ``run(until:)`` returns when
    /// all children have ended. To stop the children in reverse order, call ``shutdown()``.
    ///
    /// - Complexity: O(*n* log *n*).
    public func cancelAll() { engine.cancelAll(for: .requested(reason: nil)) }

    /// Cancels every child at once for a reason, which the children can read as `Task.cancellationCause`. In all other
    /// respects, the same as ``cancelAll()``.
    ///
    /// - Parameter reason: A description of the reason, for logs.
    /// - Complexity: O(*n* log *n*).
    public func cancelAll(because reason: String) { engine.cancelAll(for: .requested(reason: reason)) }

    /// Cancels every child at once, in no particular order and without a grace period, and refuses later children.
    ///
    /// - Complexity: O(*n* log *n*).
    public func close() {
        engine.close(isAbrupt: true)
        engine.cancelAll(for: .shutdown(name: name))
    }

    /// Waits until all children have ended, also those that are added meanwhile. Stops no child: before
    /// ``run(until:)`` is called, the children of an open supervisor have not ended.
    ///
    /// ## Cancellation
    /// A cancelled caller returns immediately. The children continue.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled, and no other error.
    public func drain() async throws(CancellationError) { try await engine.drain() }

    /// Stops the children as ``shutdown()`` does, in the reverse of the order in which they were added and each with its
    /// own grace period. When `grace` has passed, no child that is left has a grace period.
    ///
    /// Never call this function from a child: the child would wait for itself.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, the grace periods end early, and this function still waits for the children to end.
    ///
    /// - Parameters:
    ///   - grace: The time that all children together have to end. If zero or negative, they are cancelled at once.
    ///   - waiting: The rule for further attempts of `retry` and `poll` in a child that is asked to stop.
    ///   - cancellationGrace: The time that each child has to end after it was cancelled, measured by the clock of the
    ///     supervisor; `nil` for any time. A child that takes longer is left behind.
    ///   - clock: Measures `grace`. If its `sleep` fails, the time is over.
    /// - Returns: The names of the children that have a grace period, and were cancelled because it was over, `grace` was
    ///   over, or the caller was cancelled; and the children that were left behind.
    @discardableResult
    public func shutdown(
        grace: Duration,
        waiting: WaitingWorkBehavior,
        cancellationGrace: Duration?,
        clock: any Clock<Duration>
    ) async -> ShutdownReport {
        if grace <= .zero { close() }
        let (cutOff, left) = await engine.shutdown(
            grace: grace,
            waiting: waiting,
            cancellationGrace: cancellationGrace,
            clock: clock
        )
        return ShutdownReport(cancelled: cutOff.map(\.name), leftBehind: left)
    }
}

extension SupervisionEngine {
    /// Stops all children like `shutdown(waiting:cancellationGrace:)`. When `grace` has passed, no child that is left has a
    /// grace period.
    func shutdown(
        grace: Duration,
        waiting: WaitingWorkBehavior,
        cancellationGrace: Duration?,
        clock: any Clock<Duration>
    ) async -> (cutOff: [CutOffChild], leftBehind: [String]) {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do { try await sleep(for: grace, on: clock) } catch  where Task.isCancelled { return } catch {}
                self.close(isAbrupt: true)
            }
            defer { group.cancelAll() }
            return await self.shutdown(waiting: waiting, cancellationGrace: cancellationGrace)
        }
    }
}
