/// The set of features that the simulation has on a platform: the decisions that the seed controls, and the details that reports show.
///
/// `Simulation.capabilities` contains the capabilities of the current process.
///
/// On Linux, all capabilities are available if the Swift runtime is linked dynamically, and none otherwise. Each
/// capability is detected once per process by a small simulation whose result is known, except ``crashNotes`` and
/// ``watchdog``, which are available wherever ``schedules`` is. <doc:Interposition> lists the capabilities of other
/// platforms.
package struct SimulationCapabilities: OptionSet, Sendable, Hashable, CustomStringConvertible {
    /// The bits of the set. Which bit stands for which capability can change from version to version of the package.
    package let rawValue: Int

    /// Creates a set from its bits.
    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The capability to let the seed decide the order in which the jobs of tasks and actors run, and to let `Task.sleep(for:)` take virtual time.
    ///
    /// `simulate` needs this capability, and throws ``Simulation/UnsupportedError`` without it.
    package static let schedules = Self(rawValue: 1 << 0)
    /// The capability to notice each task at its creation, and to run it as part of the simulation from then on,
    /// whether it is a child task, an unstructured task or a detached task. Reports show the name of the task, and
    /// which task has created it.
    ///
    /// Without this capability, the simulation notices a task only when the task is first enqueued on the simulation's
    /// thread, and reports show no names. If another thread then resumes an unstructured or detached task, the task
    /// continues outside the simulation, and the run does not fail for that reason.
    package static let createdTasks = Self(rawValue: 1 << 1)
    /// The capability to end a step when a task switches to an actor, so that other jobs can run before the task
    /// continues on the actor.
    ///
    /// Without this capability, a task that switches to an idle actor continues there in the same step. A bug that
    /// appears only if another job runs between the code before the switch and the code after it is then not found
    /// under any seed.
    package static let hops = Self(rawValue: 1 << 2)
    /// The capability to let all clocks of the process, and the functions that block a thread for a time, use virtual time.
    ///
    /// Without this capability, `Task.sleep(for:)` still takes virtual time, rounded up to milliseconds, and
    /// ``Simulation/now`` is still virtual. But `ContinuousClock.now` is the real time, which does not show the virtual
    /// time that earlier sleeps have taken. Therefore, if a task computes a deadline, sleeps for a time, and then
    /// sleeps until the deadline, the second sleep ends too late.
    package static let virtualTime = Self(rawValue: 1 << 3)
    /// The capability to show in reports for what each task waits, and to fail a run that leaves a task behind that nothing will resume.
    ///
    /// Without this capability, a run ends when no job can run. It passes if the body has returned. Otherwise it fails as a deadlock, and
    /// the report lists only the body.
    package static let taskStates = Self(rawValue: 1 << 4)
    /// The capability to fail a run as an escape (see ``Simulation/Failure/Reason/escaped(_:)``) when its body calls a
    /// function that starts work outside the simulation, or that waits for such work.
    ///
    /// Without this capability, a run fails as an escape only if another thread resumes a child task that belongs to
    /// the simulation, or uses the ``Simulation`` object of the run. Before the simulation reports a deadlock, it waits
    /// a tenth of a second of real time, in case another thread is about to resume a task of the simulation.
    package static let escapes = Self(rawValue: 1 << 5)
    /// The capability to print the seed, the step and the task to standard error when the process crashes inside a
    /// simulation.
    package static let crashNotes = Self(rawValue: 1 << 6)
    /// The capability to print a line to standard error when a step (the part of a task between two suspension points)
    /// takes more than 5 seconds of real time. The environment variable `TASKCONTROL_WATCHDOG` sets another number of
    /// seconds; 0 disables the line.
    package static let watchdog = Self(rawValue: 1 << 7)

    /// The set of all capabilities.
    package static let all: Self = [
        .schedules, .createdTasks, .hops, .virtualTime, .taskStates, .escapes, .crashNotes, .watchdog,
    ]

    /// The names of the capabilities, separated by commas: "schedules, watchdog". Empty for the empty set.
    package var description: String {
        let names = [
            "schedules", "createdTasks", "hops", "virtualTime", "taskStates", "escapes", "crashNotes", "watchdog",
        ]
        return names.indices.filter { rawValue & 1 << $0 != 0 }.map { names[$0] }.joined(separator: ", ")
    }
}

extension SimulationCapabilities {
    /// The capabilities that need the simulation to replace functions of the process.
    static let interposed: Self = [.createdTasks, .hops, .virtualTime, .escapes]

    // Each seed asks several times, and the generic functions of an `OptionSet` are slow in a debug build.

    /// Returns whether the set contains all elements of another set.
    @_transparent func includes(_ other: Self) -> Bool { rawValue & other.rawValue == other.rawValue }

    /// Returns whether the set contains at least one element of another set.
    @_transparent func includesAny(of other: Self) -> Bool { rawValue & other.rawValue != 0 }
}
