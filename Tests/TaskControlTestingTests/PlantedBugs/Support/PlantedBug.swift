import TaskControlTesting
import Testing

/// A concurrency bug that is typical of application code, and a correct program of the same shape.
///
/// No bug uses this library. A body must be deterministic except for its schedule and `World.draw`: no order of a `Set` or `Dictionary`,
/// no random number of the system.
struct PlantedBug: Sendable, CustomTestStringConvertible {
    typealias Body = @Sendable (World) async throws -> Void

    enum Kind: String, Sendable {
        case reentrancy
        case exactlyOnce = "exactly once"
        case order
        case missedWakeUp = "missed wake-up"
        case starvation
        case deadlock
        case cancellation
        case continuation
        case lifetime
        case timing
        case dataRace = "data race"
    }

    /// The strategy that a simulation needs to find a bug.
    enum Finder: Sendable, Equatable, CustomStringConvertible {
        /// The default strategy.
        case schedules
        /// The option that lets a timer fire although other tasks can run.
        case slowness
        /// The option that lets a created task start before its creator continues.
        case earlyStart
        /// A documented limit of the simulation.
        case never(why: String)

        var description: String {
            switch self {
            case .schedules: "default"
            case .slowness: "slowness"
            case .earlyStart: "early start"
            case .never: "documented limit"
            }
        }
    }

    let name: String
    let kind: Kind
    let foundBy: Finder
    let bug: Body
    let twin: Body

    /// Creates a bug and its twin from one program.
    ///
    /// - Parameters:
    ///   - name: Appears in the table of the guide.
    ///   - kind: Appears in the table of the guide.
    ///   - foundBy: The strategy that a simulation needs to find the bug.
    ///   - body: The program. The twin is called with `isFixed`.
    init(
        _ name: String,
        _ kind: Kind,
        foundBy: Finder = .schedules,
        _ body: @escaping @Sendable (_ world: World, _ isFixed: Bool) async throws -> Void
    ) {
        self.name = name
        self.kind = kind
        self.foundBy = foundBy
        bug = { try await body($0, false) }
        twin = { try await body($0, true) }
    }

    var testDescription: String { name }

    static let all = [
        reentrancyBugs, exactlyOnceBugs, orderBugs, missedWakeUpBugs, waitingBugs, cancellationBugs, lifetimeBugs,
        timingBugs,
    ]
    .flatMap { $0 }

    /// The standard strategy with each of its options. All twins pass under these, too.
    static var options: [Simulation.Strategy] { [withSlowness, withEarlyStart].compactMap { $0 } }
}
