import TaskControlTesting

/// A random program of several processes that use leases, and the faults that happen to them.
struct FleetProgram: Sendable, CustomStringConvertible {
    /// A step of the body of a lease.
    enum Step: Sendable {
        case work(milliseconds: Int)
        /// Works on when it is cancelled, as code does that does not check.
        case stubbornWork(milliseconds: Int)
        /// Reads the number of the resource, and writes the next one with the token.
        case increment
        /// Increments a number in the store, with a guarded transaction.
        case guardedIncrement
    }

    /// A step of a process.
    enum Operation: Sendable {
        case sleep(milliseconds: Int)
        case lease(name: Int, steps: [Step], cancelledAfter: Int?)
    }

    /// The assumptions about clocks under which a program runs.
    enum Clocks: Sendable {
        /// All clocks have the same rate.
        case equal
        /// Within the bound of the margin.
        case bounded
        /// Outside of it: two leases can be valid at the same time, and only tokens protect a resource.
        case wild

        var rates: ClosedRange<Double> {
            switch self {
            case .equal: 1...1
            case .bounded: 0.95...1.05
            case .wild: 0.5...2
            }
        }
    }

    var clocks: Clocks
    var timeToLive: Duration
    var processes: [[Operation]]
    var losses = SimulatedNetwork.Faults.none
    var kinds: Set<SimulatedNetwork.InjectedFault> = []
    var faultCount = 0
    var members = 1
    /// The number of changes of the leader.
    var elections = 0
    /// The probability that a renewal is sent to any member.
    var strayRenewals = 0.0
    /// The number of entries of waiters that an operator deletes.
    var deletions = 0
    /// Whether watches report nothing.
    var isSilent = false
    /// Whether the answers of members to the first process take several times as long as all other messages.
    var hasSlowReplies = false

    init(clocks: Clocks = .bounded, timeToLive: Duration = .milliseconds(300), processes: [[Operation]]) {
        (self.clocks, self.timeToLive, self.processes) = (clocks, timeToLive, processes)
    }

    /// Draws a program.
    ///
    /// - Parameter isCalm: Without any fault.
    init(_ random: inout SeededGenerator, clocks: Clocks, isCalm: Bool = false) {
        self.clocks = clocks
        timeToLive = .milliseconds([200, 300, 500].randomElement(using: &random)!)
        let names = Int.random(in: 1...2, using: &random)
        processes = (0..<Int.random(in: 2...3, using: &random))
            .map { _ in
                (0..<Int.random(in: 1...3, using: &random)).map { _ in Operation(&random, names: names, isCalm: isCalm)
                }
            }
        let kinds = SimulatedNetwork.InjectedFault.allCases.filter { _ in Bool.random(using: &random) }
        self.kinds = isCalm ? [] : Set(kinds)
        faultCount = isCalm ? 0 : Int.random(in: 0...4, using: &random)
        let loss = isCalm ? 0 : [0, 0.02, 0.1].randomElement(using: &random)!
        losses = .init(errors: loss, lostRequests: loss, lostReplies: loss, duplicates: loss)
        members = isCalm ? 1 : Int.random(in: 1...3, using: &random)
        elections = members == 1 ? 0 : Int.random(in: 0...3, using: &random)
        strayRenewals = [0, 0.3, 0.8].randomElement(using: &random)!
        deletions = isCalm ? 0 : max(0, Int.random(in: -2...2, using: &random))
        isSilent = Int.random(in: 0..<5, using: &random) == 0
        hasSlowReplies = !isCalm && Int.random(in: 0..<5, using: &random) == 0
    }

    /// Whether nothing fails.
    var isCalm: Bool { kinds.isEmpty && losses == .none && elections == 0 && deletions == 0 }

    var description: String {
        """
        clocks \(clocks), leases of \(timeToLive), \(members) members, \(elections) elections, stray renewals \(strayRenewals), \
        losses \(losses.lostReplies), \(deletions) deletions, \(isSilent ? "silent watches, " : "")\(hasSlowReplies ? "slow replies, " : "")\(faultCount) faults of \(kinds.map { "\($0)" }.sorted()), processes \(processes)
        """
    }
}

extension FleetProgram.Operation {
    fileprivate init(_ random: inout SeededGenerator, names: Int, isCalm: Bool) {
        if Int.random(in: 0..<4, using: &random) == 0 {
            self = .sleep(milliseconds: Int.random(in: 1...300, using: &random))
            return
        }
        let steps = (0..<Int.random(in: 1...3, using: &random))
            .map { _ -> FleetProgram.Step in
                let length = Int.random(in: 1...250, using: &random)
                return switch Int.random(in: 0..<6, using: &random) {
                case 0, 1: .work(milliseconds: length)
                case 2: isCalm ? .work(milliseconds: length) : .stubbornWork(milliseconds: length)
                case 3: .guardedIncrement
                default: .increment
                }
            }
        let isCancelled = !isCalm && Int.random(in: 0..<5, using: &random) == 0
        self = .lease(
            name: Int.random(in: 0..<names, using: &random),
            steps: steps,
            cancelledAfter: isCancelled ? Int.random(in: 0...400, using: &random) : nil
        )
    }
}
