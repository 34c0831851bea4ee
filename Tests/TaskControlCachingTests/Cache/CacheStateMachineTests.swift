import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlCaching

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct CacheStateMachineTests {
    /// Every sequence of events agrees with the model; sequences that lead to the same state continue as one.
    @Test(arguments: [
        (capacity: 1, errorLifetime: 0, keys: 0..<1, depth: fullSize(8, inDebug: 6)),
        (capacity: 1, errorLifetime: 1, keys: 0..<2, depth: fullSize(6, inDebug: 5)),
        (capacity: 0, errorLifetime: 1, keys: 0..<1, depth: fullSize(7, inDebug: 6)),
    ])
    func everyShortSequenceAgreesWithTheModel(capacity: Int, errorLifetime: Int, keys: Range<Int>, depth: Int) {
        let driver = CacheDriver(capacity: capacity, errorLifetime: errorLifetime)
        let steps = driver.playEverySequence(upTo: depth) { $0.possibleEvents(keys: keys, flights: 4) }
        #expect(steps > (capacity > 0 ? 1_000 : 300))
    }

    /// Long programs, which the search above does not reach.
    @Test(arguments: Schedules.seeds(200, inDebug: 40))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = CacheDriver(capacity: Int(seed % 3), errorLifetime: Int(seed % 2) * 2)
        for _ in 0..<400 {
            let events = driver.possibleEvents(keys: 0..<3, flights: .max)
            // Flights begin, wait and end more often than values are written or removed.
            let few = events.filter {
                switch $0 {
                case .update, .invalidate, .removeOld: random.next() % 8 == 0
                case .removeAll, .fresh: random.next() % 16 == 0
                case .tick: random.next() % 2 == 0
                default: true
                }
            }
            driver.play((few.isEmpty ? events : few).randomElement(using: &random)!)
        }
    }

    private let span = CacheMachine.Lifespan(fresh: .seconds(10), stale: .seconds(10))

    private func started(_ answer: CacheMachine.Starting) -> CacheMachine.Serial {
        guard case .load(let serial) = answer else { preconditionFailure("It loads.") }
        return serial
    }

    /// The draw of XFetch: the value is refreshed before it is stale, and no reader waits for that.
    @Test func anEarlyRefreshBeginsWhileTheValueIsFresh() {
        var (machine, early) = (CacheMachine(capacity: 1, retryDelay: .zero), span)
        early.early = .seconds(3)
        let serial = started(machine.start(1, after: 0, at: .zero))
        _ = machine.finish(1, serial, .value(5, early), at: .seconds(1))
        #expect(machine.hit(1, at: .seconds(6)) == 5)
        #expect(machine.hit(1, at: .seconds(7)) == nil)
        guard case .refresh(5, isStale: false, after: serial) = machine.read(1, at: .seconds(7)) else {
            return #expect(Bool(false), "the first reader refreshes")
        }
        guard case .old(5, isStale: false, joining: serial) = machine.read(1, at: .seconds(8)) else {
            return #expect(Bool(false), "the second does not")
        }
        guard case .load = machine.start(1, after: serial, at: .seconds(8)) else {
            return #expect(Bool(false), "a fresh value does not stop the refresh")
        }
    }

    /// The delays double, up to the time to live, so that refreshes never stop.
    @Test func failedRefreshesAreRetriedWithABackoff() {
        var machine = CacheMachine(capacity: 1, retryDelay: .seconds(3))
        let long = CacheMachine.Lifespan(fresh: .seconds(10), stale: .seconds(1_000))
        var serial = started(machine.start(1, after: 0, at: .zero))
        _ = machine.finish(1, serial, .value(5, long), at: .zero)
        var now = 10
        for delay in [3, 6, 10, 10, 10] {
            guard case .refresh(_, _, let after) = machine.read(1, at: .seconds(now)) else {
                return #expect(Bool(false), "it is tried again")
            }
            serial = started(machine.start(1, after: after, at: .seconds(now)))
            _ = machine.finish(1, serial, .failure(0, .init(fresh: .zero)), at: .seconds(now))
            guard case .old(5, isStale: true, joining: nil) = machine.read(1, at: .seconds(now + delay - 1)) else {
                return #expect(Bool(false), "not before \(delay) s")
            }
            now += delay
        }
    }

    /// A million keys that come and go leave nothing behind.
    @Test func keysThatAreGoneCostNoMemory() {
        var machine = CacheMachine(capacity: 10, retryDelay: .zero)
        for key in 0..<fullSize(1_000_000, inDebug: 50_000) {
            let serial = started(machine.start(key, after: 0, at: .zero))
            let outcome: CacheMachine.Outcome =
                key.isMultiple(of: 2) ? .value(key, span) : .failure(key, .init(fresh: .zero))
            _ = machine.finish(key, serial, outcome, at: .zero)
        }
        #expect(machine.count == 10 && machine.memory < 1_000)
        for key in 2_000_000..<2_050_000 { _ = machine.start(key, after: 0, at: .zero) }
        #expect(machine.memory >= 50_000)
        for key in 2_000_000..<2_050_000 {
            _ = machine.finish(key, machine.newest(machine.place(of: key)!), .interrupted, at: .zero)
        }
        _ = machine.removeAll()
        #expect(machine.count == 0 && machine.memory < 1_000, "a burst leaves nothing behind")
    }
}
