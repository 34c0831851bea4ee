import Foundation
import TaskControl
import TaskControlCalendar
import TaskControlTesting
import TestSupport
import Testing

/// Work at the times of a calendar, in virtual time.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct EveryCalendarTests {
    private static let berlin = Zones.zone("Europe/Berlin")

    /// A wall clock that follows the virtual time, and can be set.
    private final class Wall: Sendable {
        private let sim: Simulation
        private let start: Date
        private let offset = Locked(0.0)

        init(_ sim: Simulation, _ start: String) { (self.sim, self.start) = (sim, Zones.date(start)) }

        var now: Date { start.addingTimeInterval(sim.now / .seconds(1) + offset.withLock(\.self)) }

        func set(by seconds: Double) { offset.withLock { $0 += seconds } }
    }

    private final class Owner: Sendable {
        let log = OrderRecorder<String>()
        let lifetime = AsyncLifetime()
    }

    private static func inVirtualTime(
        _ count: UInt64 = 30,
        _ body: @escaping @Sendable (Simulation) async throws -> Void
    ) async throws {
        Diagnostics.keepQuiet()
        try await offThePool { try simulate(seeds: Schedules.seeds(count, inDebug: 2)) { try await body($0) } }
    }

    @Test func anOwnerWorksAtTheTimesOfTheCalendarUntilItIsDeallocated() async throws {
        try await Self.inVirtualTime { sim in
            let (wall, log, lifetime) = (Wall(sim, "2026-03-27T12:00:00Z"), OrderRecorder<String>(), AsyncLifetime())
            var owner: Owner? = Owner()
            let task = lifetime.every(.day(at: "02:30", in: Self.berlin), for: owner!, wallClock: { wall.now }) {
                owner,
                tick in
                owner.log.record(tick.period)
                log.record(tick.period)
            }
            try await Task.sleep(for: .seconds(2 * 86_400))
            sim.expect(owner?.log.events == log.events && log.events.count == 2)
            owner = nil
            await task.value
            sim.expect(log.events.count == 2)
        }
    }

    @Test func ticksAreAtTheTimesOfTheCalendarThroughAChangeOfTheClocks() async throws {
        try await Self.inVirtualTime { sim in
            let (wall, ticks, lifetime) = (
                Wall(sim, "2026-03-27T12:00:00.250Z"), OrderRecorder<String>(), AsyncLifetime()
            )
            lifetime.every(.day(at: "02:30", in: Self.berlin), wallClock: { wall.now }) { tick in
                let delay = wall.now.timeIntervalSince(tick.scheduled)
                sim.expect(delay >= 0 && delay < 0.01 && !tick.isLate, "\(delay)")
                ticks.record(tick.period)
            }
            try await Task.sleep(for: .seconds(3 * 86_400))
            sim.expect(
                ticks.events == [
                    "2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00",
                ],
                "\(ticks.events)"
            )
            await lifetime.shutdown(grace: .zero)
            sim.expect(lifetime.isEmpty)
        }
    }

    @Test func workThatTakesLongerMissesTimesAsTheRuleSays() async throws {
        for missed in MissedTicks.allCases {
            try await Self.inVirtualTime { sim in
                let (wall, ticks, lifetime) = (
                    Wall(sim, "2026-01-01T00:30:00Z"), OrderRecorder<String>(), AsyncLifetime()
                )
                lifetime.every(.hour(atMinutes: [0], in: .gmt), missed: missed, wallClock: { wall.now }) { tick in
                    ticks.record("\(tick.period.dropFirst(11).prefix(5)) \(tick.isLate ? "late" : "on time")")
                    if ticks.count == 1 { try await Task.sleep(for: .seconds(9_000)) }
                }
                try await Task.sleep(for: .seconds(4 * 3_600))
                let made: [String] =
                    switch missed {
                    case .skip: []
                    case .once: ["03:00 late"]
                    case .all: ["02:00 late", "03:00 late"]
                    }
                sim.expect(ticks.events == ["01:00 on time"] + made + ["04:00 on time"], "\(ticks.events)")
                await lifetime.shutdown(grace: .zero)
            }
        }
    }

    @Test func aClockThatIsSetIsNoticedWithinAMinute() async throws {
        try await Self.inVirtualTime { sim in
            let (wall, ticks, lifetime) = (
                Wall(sim, "2026-01-01T00:30:00Z"), OrderRecorder<Duration>(), AsyncLifetime()
            )
            lifetime.every(.day(at: "06:00", in: .gmt), wallClock: { wall.now }) { _ in ticks.record(sim.now) }
            try await Task.sleep(for: .milliseconds(1_500))
            wall.set(by: 5 * 3_600)  // 05:30
            try await Task.sleep(for: .seconds(3_600))
            sim.expect(ticks.count == 1 && ticks.events[0] <= .seconds(1_801), "\(ticks.events)")
            wall.set(by: -3_600)  // 05:30 again
            try await Task.sleep(for: .seconds(3_600))
            sim.expect(ticks.count == 1, "a time that comes again does not run again")
            wall.set(by: -86_400)  // a correction: the day before, 06:30
            try await Task.sleep(for: .seconds(86_400))
            sim.expect(ticks.count == 2, "the times of the corrected clock count")
            await lifetime.shutdown(grace: .zero)
        }
    }

    @Test func theOwnerIsDeallocatedWhileTheWorkSleeps() async throws {
        try await Self.inVirtualTime { sim in
            let (wall, began, ended) = (Wall(sim, "2026-01-01T00:59:00Z"), Gate(), Gate())
            var owner: Owner? = Owner()
            weak let weak = owner
            owner?.lifetime.every(.hour(atMinutes: [0], in: .gmt), for: owner!, wallClock: { wall.now }) { _ in
                began.open()
                do { try await Task.sleep(for: .seconds(3_600)) } catch { ended.open() }
            } deliver: { _, _ in
                sim.expect(false, "the owner was deallocated")
            }
            try await began.wait()
            owner = nil
            sim.expect(weak == nil, "the owner is deallocated at once")
            try await ended.wait()
            sim.expect(sim.now < .seconds(61), "the work is cancelled at once")
        }
    }

    @Test func resultsAndErrorsAreDeliveredToTheOwner() async throws {
        try await Self.inVirtualTime { sim in
            let (wall, owner) = (Wall(sim, "2026-01-01T00:59:00Z"), Owner())
            owner.lifetime.every(.hour(atMinutes: [0, 30], in: .gmt), for: owner, wallClock: { wall.now }) { tick in
                if tick.period.contains("T01:30") { throw MarkedError() }
                return tick.period
            } deliver: { owner, period in
                owner.log.record(period)
            } onError: { owner, error in
                owner.log.record(error is MarkedError ? "error" : "\(error)")
            }
            try await Task.sleep(for: .seconds(4_000))
            sim.expect(
                owner.log.events == ["2026-01-01T01:00:00+00:00", "error", "2026-01-01T02:00:00+00:00"],
                "\(owner.log.events)"
            )
            await owner.lifetime.shutdown(grace: .zero)
        }
    }
}
