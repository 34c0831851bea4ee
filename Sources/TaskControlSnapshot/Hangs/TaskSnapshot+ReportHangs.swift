@_spi(Observers) public import TaskControl
internal import _TaskControlShared

extension TaskSnapshot {
    /// Starts to report waits that last for longer than a limit, and a thread pool that begins no tasks.
    ///
    /// ```swift
    /// TaskSnapshot.reportHangs(after: .seconds(30))      // when the program begins
    /// ```
    ///
    /// A thread that belongs to no pool looks once per limit at the tasks and calls that wait for a turn, a permit, a
    /// flight, a callback, or the tasks of an owner. A wait is reported once, at most two limits after its beginning.
    /// The report shows what the wait depends on, and says whether it can end: ``HangReport/Verdict``. The waits that a
    /// look finds are in one report per verdict. Delays, and the waits of `withTimeout` and `acquire(within:)`, end by
    /// themselves, and are not reported.
    ///
    /// In each look, the thread also sends a task to the thread pool, at the priorities `low`, `medium` and `high`, and
    /// reports, once, if the pool has not begun it one limit later. No time limit inside the pool can notice that.
    ///
    /// Tasks and calls that began before this call are not known, unless ``startTracking()`` was called before: a wait
    /// that depends on one of them is reported as ``HangReport/Verdict/slow``. The library does not see waits for
    /// `task.value`, for an actor or for a continuation of Swift: a task in such a wait counts as running.
    ///
    /// Events cost the same as after ``startTracking()``. If that was called before, both use the same data, and the
    /// cost is that of one. In a simulation, this function does nothing.
    ///
    /// - Parameters:
    ///   - limit: The longest time that a wait may last, by the clock of the diagnostics. Less than a millisecond counts
    ///     as one millisecond. Times during which the process was stopped or the system was asleep do not count.
    ///   - receive: Receives the reports, on the thread: the next look is made after it has returned. By default, a
    ///     report is written to the system's log as a mistake in the program, and observers receive it as an event with
    ///     the severity `warning`.
    /// - Returns: The registration. Reports are made until its `end()` is called, also if the registration is released;
    ///   the thread then ends. A report that is being made at that moment may still be received.
    /// - Complexity: A look is O(*n*) in the number of existing tasks and calls, and O(*n* log *n*) if it reports any.
    @discardableResult
    public static func reportHangs(
        after limit: Duration,
        to receive: (@Sendable (HangReport) -> Void)? = nil
    ) -> TaskDiagnostics.Registration {
        let limit = TaskDiagnostics.limit(
            limit,
            atLeast: .milliseconds(1),
            "TaskSnapshot.reportHangs(after:to:)",
            .taskSnapshot
        )
        let former = processTracker
        let watch = HangWatch(limit, former ?? TaskTracker(), to: receive ?? { $0.log() })
        return watch.start(observing: former == nil)
    }
}

/// Looks at the tasks and calls of a tracker on a thread of its own, and reports what has waited for too long.
final class HangWatch: Sendable {
    private static let priorities: [TaskPriority] = [.low, .medium, .high]
    private static let mostShown = 100

    private let limit: Duration
    private let tracker: TaskTracker
    private let receive: @Sendable (TaskSnapshot.HangReport) -> Void
    private let state: Guarded<HangStateMachine>

    init(_ limit: Duration, _ tracker: TaskTracker, to receive: @escaping @Sendable (TaskSnapshot.HangReport) -> Void) {
        (self.limit, self.tracker, self.receive) = (limit, tracker, receive)
        state = Guarded(HangStateMachine(limit: limit, probeCount: Self.priorities.count))
    }

    /// Starts the thread, which retains this object until the returned registration has ended.
    ///
    /// - Parameter isObserving: Whether the tracker must be added as an observer.
    func start(observing isObserving: Bool) -> TaskDiagnostics.Registration {
        let thread = IntervalThread()
        let registration = TaskDiagnostics.observe(isObserving ? tracker : nil) { thread.stop() }
        let isStarted = thread.start(every: limit) { pause in
            withExtendedLifetime(registration) { self.look(after: pause) }
        }
        if !isStarted { registration.end() }
        return registration
    }

    private func look(after pause: Duration) {
        // `nil` when the observation has just ended.
        guard let time = TaskDiagnostics.eventTime else { return }
        let look = state.withLock { $0.look(at: time, after: pause) }
        for probe in look.toPost {
            Task.detached(priority: Self.priorities[probe]) { [state] in state.withLock { $0.probeBegan(probe) } }
        }
        if !look.overdue.isEmpty {
            let books = tracker.books
            report(.starved, [], showing: books.active(atMost: Self.mostShown), SnapshotBuilder(books, at: time).make())
        }
        if let latest = look.latestBeginning { reportWaits(since: latest, at: time) }
    }

    private func reportWaits(since latest: Duration, at time: Duration) {
        func unreported(of waits: [HangStateMachine.Wait]) -> [HangStateMachine.Wait] {
            state.withLock { $0.unreported(of: waits) }
        }
        // Without a copy of the tracked data, which is made only for a report.
        if unreported(of: tracker.waits(since: latest)).isEmpty { return }
        let books = tracker.books
        let builder = SnapshotBuilder(books, at: time)
        let (snapshot, stuck) = (builder.make(), builder.stuck())
        let waits = unreported(of: books.waits(since: latest))
        let (slow, hung) = state.withLock { $0.report(waits, stuck: stuck) }
        for (verdict, waits) in [(TaskSnapshot.HangReport.Verdict.hung, hung), (.slow, slow)] where !waits.isEmpty {
            let ids = waits.map(\.id)
            report(verdict, ids, showing: Array(ids.prefix(Self.mostShown)), snapshot)
        }
    }

    private func report(
        _ verdict: TaskSnapshot.HangReport.Verdict,
        _ waits: [TaskEvent.Identity],
        showing shown: [TaskEvent.Identity],
        _ snapshot: TaskSnapshot
    ) {
        let snapshot = snapshot.concerning(Set(shown))
        receive(TaskSnapshot.HangReport(verdict: verdict, limit: limit, waits: waits, snapshot: snapshot))
    }
}

extension TaskSnapshot.HangReport {
    /// Reports to the log and to observers.
    fileprivate func log() {
        TaskDiagnostics.report(
            TaskEvent.Kind(rawValue: verdict.rawValue),
            .taskSnapshot,
            sentence: sentence,
            details: "\(snapshot)"
        )
    }
}
