import Foundation
import TaskControl
import TaskControlFleet
import TaskControlTesting
import TestSupport
import Testing

/// `withLease` under everything that a body, a caller, a clock, an operator and a store can do to it.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct LeaseAdversaryTests {
    private static let timeToLive = Duration.seconds(10)

    @Test func aBodyThatIgnoresItsCancellationIsAwaited() async throws {
        try await inVirtualTime { sim in
            let (memory, end) = (MemoryStore(), Gate())
            let store = FaultyStore(memory)
            let first = Task {
                try await withLease("job", in: store, timeToLive: Self.timeToLive) { lease in
                    store.fail { _ in .hang }
                    await end.waitIgnoringCancellation()
                    sim.expect(!lease.isValid && lease.remaining == .zero, "the lease is over")
                    sim.expect(await failure { try lease.check() } is LeaseLostError, "a check fails")
                    return 1
                }
            }
            try await Task.sleep(for: .milliseconds(100))
            try await withLease("job", in: memory, timeToLive: Self.timeToLive) { _ in
                sim.expect(sim.now <= .seconds(11), "the next one does not wait for the body")
            }
            try await Task.sleep(for: .seconds(30))
            end.open()
            let error = await failure { _ = try await first.value } as? LeaseLostError
            sim.expect(error?.reason == .expired && error?.underlyingError == nil, "its value does not count")
        }
    }

    @Test func theErrorOfABodyThatHasLostItsLeaseIsKept() async throws {
        try await inVirtualTime { sim in
            let store = FaultyStore(MemoryStore())
            let error = await failure {
                try await withLease("job", in: store, timeToLive: Self.timeToLive) { _ in
                    store.fail { _ in .unavailable }
                    try? await Gate().wait()
                    throw MarkedError("on loss")
                }
            }
            let lost = error as? LeaseLostError
            sim.expect(lost?.underlyingError as? MarkedError == MarkedError("on loss"), "the error of the body is kept")
            sim.expect(lost?.name == "job" && lost?.reason == .expired, "the name and the reason are known")
        }
    }

    @Test func aLostLeaseNamesTheErrorOfTheStore() async throws {
        try await inVirtualTime { sim in
            let (memory, name) = (MemoryStore(), "revoked in \(sim.seed)")
            let store = FaultyStore(memory)
            let events = Collector { $0.ownerName == name && $0.kind == .leaseLost }
            let observation = TaskDiagnostics.observe(events)
            defer { observation.end() }
            let error = await failure {
                try await withLease(name, in: store, timeToLive: Self.timeToLive) { lease in
                    store.fail { $0.isRenewal ? .unauthorized : .none }
                    try? await Gate().wait()
                    let check = await failure { try lease.check() } as? LeaseLostError
                    sim.expect((check?.renewalError as? StoreError)?.reason == .unauthorized, "the check names it")
                    throw CancellationError()
                }
            }
            let lost = error as? LeaseLostError
            sim.expect((lost?.renewalError as? StoreError)?.reason == .unauthorized, "the reason of the store")
            sim.expect(
                lost?.reason == .expired && lost?.underlyingError == nil,
                "the cancellation of the loss is no error"
            )
            for text in ["\(lost.map(String.init(describing:)) ?? "")", events.events.first?.error ?? ""] {
                sim.expect(text.contains("unauthorized") && !text.contains("CancellationError"), "\(text)")
            }
        }
    }

    @Test func anErrorBeforeARenewalThatSucceedsIsNotTheReasonOfALaterLoss() async throws {
        try await inVirtualTime { sim in
            let store = FaultyStore(MemoryStore()) { call in
                guard call.isRenewal else { return .none }
                return sim.now < .seconds(4) ? .unavailable : sim.now < .seconds(8) ? .none : .stale
            }
            let error = await failure {
                try await withLease("job", in: store, timeToLive: Self.timeToLive) { _ in try await Gate().wait() }
            }
            let lost = error as? LeaseLostError
            sim.expect(sim.now > .seconds(13), "the lease was renewed in between")
            sim.expect(lost?.reason == .expired && lost?.renewalError == nil, "no call has failed since")
        }
    }

    @Test func anEntryThatAnOperatorDeletesEndsTheLeaseAtOnce() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            let error = await failure {
                try await withLease("job", in: memory, timeToLive: Self.timeToLive) { lease in
                    let key = try await memory.line()[0].key
                    _ = try await memory.transact(StoreTransaction(success: [.delete(.key(key))]))
                    try? await Gate().wait()
                    sim.expect(sim.now < .milliseconds(100), "the watch has reported it")
                    sim.expect(Task.cancellationCause == .leaseLost(name: "job"), "the cause is that of the lease")
                }
            }
            sim.expect((error as? LeaseLostError)?.reason == .removed, "the entry was removed")
        }
    }

    @Test func aGuardedTransactionFailsWithoutTheLease() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            let write = StoreTransaction(success: [.put("report", .init([1]))])
            let kept = Locked<Lease?>(nil)
            try await withLease("job", in: memory, timeToLive: Self.timeToLive) { lease in
                kept.withLock { $0 = lease }
                sim.expect(try await memory.transact(lease.guarded(write)).succeeded, "the holder writes")
            }
            guard let lease = kept.withLock(\.self) else { return }
            sim.expect(!(try await memory.transact(lease.guarded(write)).succeeded), "a former holder does not write")
            let error = await failure { try lease.check() } as? LeaseLostError
            sim.expect(error?.reason == .ended, "the body has ended")
        }
    }

    /// The caller is cancelled at any point: while it enters the line, waits, holds, or leaves.
    @Test func aCallerThatIsCancelledLeavesNothingBehind() async throws {
        try await inVirtualTime(2_000) { sim in
            let memory = MemoryStore()
            let first = Task {
                try await withLease("job", in: memory, timeToLive: Self.timeToLive) { _ in
                    try await Task.sleep(for: .milliseconds(sim.seed % 3))
                }
            }
            let isHeld = Locked(false)
            let second = Task {
                try await withLease("job", in: memory, timeToLive: Self.timeToLive) { lease in
                    isHeld.withLock { $0 = true }
                    sim.expect(lease.isValid, "the lease is valid")
                    try await Task.sleep(for: .milliseconds(1))
                    return lease.token
                }
            }
            sim.cancelAtAnyPoint(second)
            try await first.value
            switch await second.result {
            case .success: sim.expect(isHeld.withLock(\.self), "the body has run")
            case .failure(let error): sim.expect(error is CancellationError, "a cancelled caller sees that")
            }
            sim.expect(try await memory.line().isEmpty, "the line is empty")
        }
    }

    /// A caller that is cancelled while a call of the store is under way, with answers that take their time.
    @Test func aCallerThatIsCancelledDuringASlowCallLeavesNothingBehind() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            let store = FaultyStore(memory) { _ in .slow(.milliseconds(200)) }
            let task = Task {
                try await withLease("job", in: store, timeToLive: Self.timeToLive) { _ in
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            try await Task.sleep(for: .milliseconds(20 * (sim.seed % 60)))
            task.cancel()
            _ = await task.result
            sim.expect(try await memory.line().isEmpty, "the line is empty")
        }
    }

    @Test func aStoreThatHangsIsGivenUpAfterOneDuration() async throws {
        try await inVirtualTime { sim in
            let error = await failure {
                try await withLease("job", in: FaultyStore(MemoryStore()) { _ in .hang }, timeToLive: Self.timeToLive) {
                    _ in sim.expect(false, "the body does not run")
                }
            }
            sim.expect((error as? StoreError)?.reason == .ambiguous, "the error says that there was no answer")
            sim.expect(sim.now >= Self.timeToLive && sim.now <= .seconds(20), "the wait is limited")
        }
    }

    @Test func aStoreThatRefusesEndsTheWaitAtOnce() async throws {
        try await inVirtualTime { sim in
            let store = FaultyStore(MemoryStore()) { _ in .unauthorized }
            let error = await failure {
                try await withLease("job", in: store, timeToLive: Self.timeToLive) { _ in }
            }
            sim.expect((error as? StoreError)?.reason == .unauthorized && sim.now == .zero, "it is thrown at once")
        }
    }

    /// In time: the lease is valid for 9 s after a renewal, the next one is due after a third of 10 s, and is tried each second.
    @Test func aStoreThatComesBackInTimeKeepsTheLease() async throws {
        try await inVirtualTime { sim in
            let store = FaultyStore(MemoryStore())
            try await withLease("job", in: store, timeToLive: Self.timeToLive) { lease in
                for _ in 0..<5 {
                    store.fail { _ in .unavailable }
                    try await Task.sleep(for: .seconds(4))
                    store.fail { _ in .none }
                    try await Task.sleep(for: .seconds(5))
                    sim.expect(lease.isValid, "the lease was renewed")
                }
            }
        }
    }

    /// A waiter that has no contact for longer than its lease loses its place, and is not overtaken forever.
    @Test func aWaiterThatWasAwayEntersTheLineAgain() async throws {
        try await inVirtualTime { sim in
            let (memory, release) = (MemoryStore(), Gate())
            let store = FaultyStore(memory)
            let first = holdLease(in: memory, timeToLive: Self.timeToLive, until: release)
            try await Task.sleep(for: .milliseconds(100))
            let second = Task {
                try await withLease("job", in: store, timeToLive: Self.timeToLive) { $0.token }
            }
            try await Task.sleep(for: .milliseconds(100))
            let entry = try await memory.line()[1]
            store.fail { _ in .unavailable }
            try await Task.sleep(for: .seconds(15))
            store.fail { _ in .none }
            try await Task.sleep(for: .seconds(5))
            release.open()
            try await first.value
            let token = try await second.value
            sim.expect(token.rawValue > entry.createRevision, "its entry is another one")
        }
    }

    /// The process is paused for longer than the lease: its clock jumps, and nothing of it has run in the meantime.
    @Test func aLeaseIsNotValidAfterAJumpOfTheClock() async throws {
        let clock = TestClock()
        // Its time stands still: by the usual clock, the lease could expire before the body begins, and the next attempt waits on the clock above.
        let store = MemoryStore(clock: TestClock())
        let error = await failure {
            try await withLease("job", in: store, timeToLive: Self.timeToLive, clock: clock) { lease in
                #expect(lease.isValid && lease.remaining == .seconds(9))
                await clock.advance(by: .seconds(3_600))
                #expect(!lease.isValid)
                let error = await failure { try lease.check() } as? LeaseLostError
                #expect(error?.reason == .expired)
            }
        }
        #expect((error as? LeaseLostError)?.reason == .expired)
    }

    @Test(arguments: [Duration.zero, .seconds(-5), .seconds(Int64.max), .nanoseconds(1)])
    func anyDurationIsTaken(_ duration: Duration) async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            let value = try await withLease("job", in: memory, timeToLive: duration) { lease in
                try await Task.sleep(for: .seconds(2))
                sim.expect(lease.isValid && lease.remaining > .zero, "the lease is kept up")
                return 5
            }
            sim.expect(value == 5, "the value is returned")
            sim.expect(try await memory.line().isEmpty, "the line is empty")
        }
    }

    @Test func aDeadlineOfTheCallerEndsTheWaitAndNotTheRelease() async throws {
        try await inVirtualTime { sim in
            let (memory, release) = (MemoryStore(), Gate())
            let first = holdLease(in: memory, timeToLive: Self.timeToLive, until: release)
            try await Task.sleep(for: .milliseconds(100))
            let error = await failure {
                try await withDeadline(in: .seconds(20)) {
                    try await withLease("job", in: memory, timeToLive: Self.timeToLive) { _ in }
                }
            }
            sim.expect(error is DeadlineExceededError, "the deadline is exceeded")
            sim.expect(try await memory.line().count == 1, "only the holder is in the line")
            release.open()
            try await first.value
        }
    }

    @Test @MainActor func aBodyRunsInTheIsolationOfItsCallerAndReturnsAnyValue() async throws {
        final class Box {
            var value = 0
        }
        let box = Box()
        let same = try await withLease("a name/with % of everything/", in: MemoryStore(), timeToLive: .seconds(3_600)) {
            lease in
            MainActor.assertIsolated()
            box.value += 1
            #expect(lease.name == "a name/with % of everything/")
            return box
        }
        #expect(same === box && box.value == 1)
    }

    @Test func namesDoNotShareALine() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            try await withLease("a", in: memory) { _ in
                try await withLease("a/b", in: memory) { _ in
                    try await withLease("a%2Fb", in: memory) { _ in
                        sim.expect(sim.now == .zero, "no name waits for another one")
                    }
                }
            }
        }
    }

    @Test func theErrorOfABodyIsThrownAndTheLineIsLeft() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            let error = await failure {
                try await withLease("job", in: memory) { _ in throw MarkedError("body") }
            }
            sim.expect(error as? MarkedError == MarkedError("body"), "the error of the body is thrown")
            sim.expect(try await memory.line().isEmpty, "the line is empty")
        }
    }

    @Test func theEventsOfALeaseArePaired() async throws {
        let events = try await EventLog.events {
            // No time passes, however busy the machine is: there is no renewal.
            let clock = TestClock()
            let store = MemoryStore(clock: clock)
            try await withLease("paired", in: store, clock: clock) { _ in }
            _ = await failure {
                try await withLease("paired", in: store, clock: clock) { _ in throw MarkedError("body") }
            }
        }
        #expect(events.unpaired.isEmpty)
        let own = events.filter { $0.primitive == .withLease }
        #expect(
            own.map(\.kind) == [
                .waiting, .acquired, .entryDeleted, .completed, .waiting, .acquired, .entryDeleted, .failed,
            ]
        )
        #expect(own.allSatisfy { $0.ownerName == "paired" })
    }
}
