/// The decisions that a simulation makes, and the details that its reports show, on one platform.
///
/// ``Simulation/capabilities`` has the capabilities of the process. A test that depends on one of them asks for it:
///
/// ```swift
/// @Test(.enabled(if: Simulation.capabilities.contains(.taskStates)))
/// func theReportOfADeadlockNamesTheTask() throws {
/// ```
///
/// Linux has all of them if the Swift runtime is linked dynamically, and none otherwise. Each is detected once per process, by a simulation with a
/// known result, except ``crashNotes`` and ``watchdog``. <doc:Interposition> lists the capabilities of other platforms.
public struct SimulationCapabilities: OptionSet, Sendable, Hashable, CustomStringConvertible {
    /// The bits. Not stable from version to version.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The seed decides the order in which the jobs of tasks and actors run, and `Task.sleep(for:)` takes virtual time.
    ///
    /// `simulate` needs this one. It throws ``SimulationUnsupportedError`` without it.
    public static let schedules = Self(rawValue: 1 << 0)
    /// A task belongs to the simulation from its creation on, whether it is a child task, unstructured or detached. Reports show its
    /// name and its creator.
    ///
    /// Without this capability a task belongs to the simulation once it is enqueued on the thread of the simulation, reports show no names, and a
    /// task without a parent leaves the simulation unnoticed when another thread resumes it.
    public static let createdTasks = Self(rawValue: 1 << 1)
    /// A hop to an actor ends a step, so that another job may run before the task arrives there.
    ///
    /// Without this capability a task arrives at once on an actor that is idle: some bugs are found under no seed.
    public static let hops = Self(rawValue: 1 << 2)
    /// All clocks of the process are virtual, and so are the functions that block a thread for a time.
    ///
    /// Without this capability `Task.sleep(for:)` still takes virtual time, rounded up to milliseconds, but `ContinuousClock.now` is the real time: a
    /// deadline that is computed before one sleep is too late for the next one. ``Simulation/now`` is virtual.
    public static let virtualTime = Self(rawValue: 1 << 3)
    /// Reports show for what each task waits, and a seed fails if it leaves a task behind.
    ///
    /// Without this capability a seed ends when nothing can run. It passes if the body has returned, and otherwise it fails as a deadlock, in which
    /// the body is the only task that the report lists.
    public static let taskStates = Self(rawValue: 1 << 4)
    /// A call that makes something outside the simulation work, or waits for it, ends the seed as an escape.
    ///
    /// Without this capability only a thread that resumes a child task of the simulation, or uses its ``Simulation``, is noticed, and a deadlock
    /// takes a tenth of a second.
    public static let escapes = Self(rawValue: 1 << 5)
    /// A crash of the process inside a simulation prints the seed, the step and the task.
    public static let crashNotes = Self(rawValue: 1 << 6)
    /// A step that takes too long is reported, unless `TASKCONTROL_WATCHDOG` is 0.
    public static let watchdog = Self(rawValue: 1 << 7)

    /// The set of all capabilities.
    public static let all: Self = [
        .schedules, .createdTasks, .hops, .virtualTime, .taskStates, .escapes, .crashNotes, .watchdog,
    ]

    /// The names of the capabilities, separated by commas: "schedules, watchdog". Empty for the empty set.
    public var description: String {
        let names = [
            "schedules", "createdTasks", "hops", "virtualTime", "taskStates", "escapes", "crashNotes", "watchdog",
        ]
        return names.indices.filter { rawValue & 1 << $0 != 0 }.map { names[$0] }.joined(separator: ", ")
    }
}

extension SimulationCapabilities {
    /// The capabilities that depend on functions of the process that the simulation replaces.
    static let interposed: Self = [.createdTasks, .hops, .virtualTime, .escapes]

    // Each seed asks several times, and the generic functions of an `OptionSet` are slow in a debug build.

    /// Whether the set contains all elements of another.
    @_transparent func includes(_ other: Self) -> Bool { rawValue & other.rawValue == other.rawValue }

    /// Whether the set contains an element of another.
    @_transparent func includesAny(of other: Self) -> Bool { rawValue & other.rawValue != 0 }
}
