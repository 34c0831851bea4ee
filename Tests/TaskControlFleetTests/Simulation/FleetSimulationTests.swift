import Foundation
import TaskControl
import TaskControlFleet
import TaskControlTesting
import TestSupport
import Testing

/// Leases of several processes on a simulated network, with partitions, lost messages, pauses, crashes, changes of the leader, and clocks of different rates.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct FleetSimulationTests {
    /// 100 programs, a window of them in a debug build. `TASKCONTROL_FLEET_PROGRAMS=1000` runs ten times as many.
    private static let programs: Range<UInt64> = {
        guard let text = ProcessInfo.processInfo.environment["TASKCONTROL_FLEET_PROGRAMS"] else {
            return fullSize(0..<100, inDebug: Schedules.seeds(100, inDebug: 8))
        }
        guard let count = UInt64(text) else {
            preconditionFailure("TASKCONTROL_FLEET_PROGRAMS=\(text) is not a number")
        }
        return 0..<count
    }()

    /// One half of the programs has clocks within the bound of the margin: no two leases are valid at the same time. The other half has any clocks: tokens
    /// protect the resource.
    @Test func leasesExcludeEachOther() async throws {
        try await offThePool {
            for number in Self.programs { try Self.run(number, Schedules.seeds(1_000, inDebug: 2)) }
        }
    }

    private static func run(_ number: UInt64, _ seeds: Range<UInt64>) throws {
        var random = SeededGenerator(seed: number)
        let program = FleetProgram(&random, clocks: number.isMultiple(of: 2) ? .bounded : .wild)
        try simulate(seeds: seeds) { sim in
            sim.note("program \(number): \(program)")
            try await FleetWorld(sim, program).run()
        }
    }

    /// While nothing fails, the line is first come, first served.
    @Test func callersHoldInTheOrderOfTheirCalls() async throws {
        try await offThePool {
            for number in 0..<fullSize(20, inDebug: 3) as Range<UInt64> {
                var random = SeededGenerator(seed: number)
                let program = FleetProgram(&random, clocks: .bounded, isCalm: true)
                try simulate(seeds: Schedules.seeds(500, inDebug: 2)) { sim in
                    sim.note("program \(number): \(program)")
                    try await FleetWorld(sim, program).run()
                }
            }
        }
    }

    // MARK: Dead holders

    /// The end of a holder.
    enum Death: CaseIterable {
        case crash, pause, partition
    }

    /// A waiter acquires within the duration of the lease, the margin of 10 % for clocks of different rates, and eight round trips: the last renewal of the
    /// holder may be under way, and the waiter may just have begun another request. Without watches, a third of the duration is added.
    @Test(arguments: Death.allCases, [true, false])
    func aWaiterBehindADeadHolderAcquiresInTime(_ death: Death, isSilent: Bool) async throws {
        var program = FleetProgram(processes: [
            [.lease(name: 0, steps: [.work(milliseconds: 60_000)], cancelledAfter: nil)],
            [.sleep(milliseconds: 50), .lease(name: 0, steps: [.work(milliseconds: 5)], cancelledAfter: nil)],
            [.sleep(milliseconds: 60), .lease(name: 0, steps: [.work(milliseconds: 5)], cancelledAfter: nil)],
        ])
        program.isSilent = isSilent
        try await offThePool { [program] in
            try simulate(seeds: Schedules.seeds(1_000, inDebug: 3)) { sim in
                let world = FleetWorld(sim, program)
                try await world.network.run {
                    try await world.begun.waitForEvents(count: 1)
                    var random = sim.random
                    // The waiters are in the line.
                    try await Task.sleep(for: .milliseconds(Int.random(in: 150...1_000, using: &random)))
                    sim.expect(world.tenures.count == 1, "one process holds the lease")
                    let holder = world.tenures[0].process
                    switch death {
                    case .crash: world.network.node(holder.name).crash()
                    case .pause: world.network.node(holder.name).pause()
                    case .partition: world.network.partition([holder.name])
                    }
                    let start = sim.now
                    try await world.begun.waitForEvents(count: 2)
                    let time = world.tenures[1].time - start
                    let trips = FleetWorld.latency.upperBound * 16
                    let limit = program.timeToLive * (isSilent ? 1.1 + 1.1 / 3 : 1.1) + trips
                    sim.expect(time <= limit, "acquired after \(time), not within \(limit)")
                    sim.expect(time >= program.timeToLive / 2, "the lease of the holder was valid until then")
                }
            }
        }
    }
}
