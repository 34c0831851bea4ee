#if os(Linux)
import Dispatch
import Foundation
import Glibc
import TaskControlTesting
import Testing

/// Every clock of the process shows virtual time, and a blocked thread is one for which it passes.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported))
struct BlockedTimeTests {
    /// 2030-01-01.
    private static let start = 1_893_456_000

    private static func seconds() -> [Int] {
        var (day, standard, exact) = (timeval(), timespec(), timespec())
        gettimeofday(&day, nil)
        timespec_get(&standard, TIME_UTC)
        clock_gettime(CLOCK_REALTIME_COARSE, &exact)
        return [time(nil), day.tv_sec, standard.tv_sec, exact.tv_sec, Int(Date().timeIntervalSince1970)]
    }

    @Test func allClocksShowOneDate() throws {
        try simulate(seed: 1) { sim in
            sim.expect(Self.seconds() == Array(repeating: Self.start, count: 5), "\(Self.seconds())")
            try await Task.sleep(for: .seconds(90))
            sim.expect(Self.seconds() == Array(repeating: Self.start + 90, count: 5), "\(Self.seconds())")
            var seconds = 0
            sim.expect(time(&seconds) == Self.start + 90 && seconds == Self.start + 90)
        }
        #expect(abs(time(nil) - Int(Date().timeIntervalSince1970)) < 10 && time(nil) != Self.start)
    }

    private static let hour = timespec(tv_sec: 3_600, tv_nsec: 0)

    private static func sleepUntil(_ date: timespec) {
        var date = date
        clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &date, nil)
    }

    private static func poll(for hour: timespec) {
        var time = timeval(tv_sec: hour.tv_sec, tv_usec: 0)
        select(0, nil, nil, nil, &time)
    }

    /// Each takes an hour.
    private static let sleeps: [(name: String, sleep: @Sendable () -> Void)] = [
        ("nanosleep", { withUnsafePointer(to: hour) { _ = nanosleep($0, nil) } }),
        ("nanosleep", { Thread.sleep(forTimeInterval: 3_600) }),
        ("nanosleep", { Thread.sleep(until: Date(timeIntervalSince1970: TimeInterval(start + 3_600))) }),
        ("clock_nanosleep", { withUnsafePointer(to: hour) { _ = clock_nanosleep(CLOCK_MONOTONIC, 0, $0, nil) } }),
        ("clock_nanosleep", { sleepUntil(timespec(tv_sec: start + 3_600, tv_nsec: 0)) }),
        ("usleep", { usleep(3_600_000_000) }),
        ("sleep", { Glibc.sleep(3_600) }),
        ("poll", { Glibc.poll(nil, 0, 3_600_000) }),
        ("select", { poll(for: hour) }),
    ]

    /// The schedule says so, since a thread of the pool would be blocked for that long.
    @Test func aSleepOfTheThreadTakesVirtualTime() throws {
        for (name, sleep) in Self.sleeps {
            let failure = try #require(
                failure { sim in
                    await Task(name: "worker") { sleep() }.value
                    sim.expect(false, "\(sim.now)")
                }
            )
            // A Double of seconds is not exact.
            #expect(abs(failure.run.elapsed / .seconds(3_600) - 1) < 1e-6, "\(name): \(failure.run.elapsed)")
            #expect(failure.description.contains("#1 worker blocks its thread for"), "\(failure)")
            #expect(failure.description.contains(" in \(name)\n"), "\(failure)")
        }
    }

    @Test func sleepersWakeDuringASleepOfTheThread() throws {
        let orders = OrderRecorder<String>()
        try simulate(seeds: 0..<50, checksDeterminism: true) { sim in
            let sleeper = Task {
                try await Task.sleep(for: .seconds(1))
                return sim.now
            }
            await Task.yield()
            Glibc.sleep(2)
            // From now on: not from when the step began.
            try await Task.sleep(for: .seconds(3))
            let woke = try await sleeper.value
            orders.record("\(woke) \(sim.now)")
        }
        // Asleep before the thread was, or after.
        #expect(Set(orders.events) == ["2.0 seconds 5.0 seconds", "3.0 seconds 5.0 seconds"])
    }

    @Test func aThreadMaySleepToTheEndOfTime() throws {
        let run = try simulate(seed: 1) { sim in
            for _ in 0..<2 {
                var forever = timespec(tv_sec: .max, tv_nsec: 999_999_999)
                nanosleep(&forever, nil)
            }
            try await Task.sleep(for: .seconds(1))
            sim.expect(Date() > .distantPast && ContinuousClock.now.duration(to: .now) == .zero)
        }
        #expect(run.elapsed > .seconds(9_000_000_000))
    }

    // MARK: Loops that look at the clock

    private static func wait<Instant: Comparable>(until end: Instant, _ now: () -> Instant) {
        while now() < end {}
    }

    /// Not in real time: an hour would be one.
    @Test func aLoopThatWaitsForTheClockEnds() throws {
        let loops: [@Sendable () -> Void] = [
            { Self.wait(until: ContinuousClock.now + .seconds(3_600)) { .now } },
            { Self.wait(until: SuspendingClock.now + .seconds(3_600)) { .now } },
            { Self.wait(until: Date() + 3_600) { Date() } },
            { Self.wait(until: time(nil) + 3_600) { time(nil) } },
            { Self.wait(until: DispatchTime.now() + 3_600) { .now() } },
            { Self.wait(until: ProcessInfo.processInfo.systemUptime + 3_600) { ProcessInfo.processInfo.systemUptime } },
        ]
        for loop in loops {
            let failure = try #require(
                failure(checksDeterminism: true) { sim in
                    loop()
                    sim.expect(false)
                }
            )
            #expect(failure.run.elapsed >= .seconds(3_600))
            #expect(failure.description.contains("#0 body blocks its thread in a loop that looks at the clock"))
        }
    }

    /// A step that looks at the clock as often as programs do, and the steps after it, let no other time pass.
    @Test func aLookAtTheClockTakesANanosecond() throws {
        let run = try simulate(seed: 1) { sim in
            for _ in 0..<10 {
                for _ in 0..<9_000 { _ = ContinuousClock.now }
                await Task.yield()
            }
        }
        #expect(run.elapsed == .microseconds(90))
    }
}
#endif
