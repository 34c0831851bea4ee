import Foundation
import TaskControl
import TaskControlFleet
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct RunOnceTests {
    enum Guarantee: CaseIterable { case atLeastOnce, atMostOnce }

    private static let timeToLive = Duration.seconds(10)

    @discardableResult
    private static func run(
        _ period: String,
        in store: any StoreOperations,
        _ guarantee: Guarantee = .atLeastOnce,
        body: nonisolated(nonsending) (Lease) async throws -> Void
    ) async throws -> Bool {
        switch guarantee {
        case .atLeastOnce: try await runOnce("job", for: period, in: store, timeToLive: timeToLive, body: body)
        case .atMostOnce: try await runAtMostOnce("job", for: period, in: store, timeToLive: timeToLive, body: body)
        }
    }

    @Test(arguments: Guarantee.allCases)
    func ofAllCallersOneRunsTheBodyAndTheOthersReturnAfterIt(_ guarantee: Guarantee) async throws {
        try await inVirtualTime { sim in
            let (store, runs) = (MemoryStore(), Locked(0))
            let results = try await withThrowingTaskGroup(of: Bool.self) { group in
                for machine in 0..<5 {
                    group.addTask {
                        try await Task.sleep(for: .milliseconds(machine))
                        return try await Self.run("monday", in: store, guarantee) { lease in
                            runs.withLock { $0 += 1 }
                            try await Task.sleep(for: .seconds(60))
                            try lease.check()
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            sim.expect(results.filter(\.self).count == 1 && runs.withLock(\.self) == 1, "one caller has run the body")
            sim.expect(sim.now >= .seconds(60) && sim.now < .seconds(61), "the others have waited for it")
            let late = try await Self.run("monday", in: store, guarantee) { _ in sim.expect(false, "it was run") }
            sim.expect(!late, "a late caller does not run it")
            let next = try await Self.run("tuesday", in: store, guarantee) { _ in runs.withLock { $0 += 1 } }
            sim.expect(next && runs.withLock(\.self) == 2, "the next period is run")
            let earlier = try await Self.run("monday", in: store, guarantee) { _ in sim.expect(false, "it was run") }
            sim.expect(!earlier, "a caller that still has the earlier period does not run it")
            sim.expect(try await store.line("once/").map(\.key) == ["once/job/done"], "one entry is left")
        }
    }

    @Test func aLateCallerDoesNotWaitForTheRunOfAnotherPeriod() async throws {
        try await inVirtualTime { sim in
            let (store, started) = (MemoryStore(), Gate())
            try await Self.run("monday", in: store) { _ in }
            let tuesday = Task {
                try await Self.run("tuesday", in: store) { _ in
                    started.open()
                    try await Task.sleep(for: .seconds(60))
                }
            }
            try await started.wait()
            let late = try await Self.run("monday", in: store) { _ in sim.expect(false, "it was run") }
            sim.expect(!late && sim.now < .seconds(1), "it has not waited")
            sim.expect(try await tuesday.value, "tuesday was run")
        }
    }

    @Test func theLeaseOfTheSameNameIsAnother() async throws {
        try await inVirtualTime { sim in
            let store = MemoryStore()
            let isRun = try await withLease("job", in: store) { _ in try await Self.run("monday", in: store) { _ in } }
            sim.expect(isRun, "it was run")
        }
    }

    /// The first machine is cut off from the store in the middle of its run, as if it had crashed.
    @Test func aRunThatIsInterruptedIsRepeatedOnlyIfThatIsGuaranteed() async throws {
        for guarantee in Guarantee.allCases {
            try await inVirtualTime { sim in
                let (memory, started, ends) = (MemoryStore(), Gate(), OrderRecorder<String>())
                let cutOff = FaultyStore(memory)
                let first = Task {
                    try await Self.run("monday", in: cutOff, guarantee) { _ in
                        cutOff.fail { _ in .hang }
                        started.open()
                        try await Task.sleep(for: .seconds(3_600))
                        ends.record("first")
                    }
                }
                try await started.wait()
                let isRun = try await Self.run("monday", in: memory, guarantee) { _ in ends.record("second") }
                let error = await failure { _ = try await first.value }
                sim.expect(error is LeaseLostError, "the first has lost its lease")
                sim.expect(isRun == (guarantee == .atLeastOnce), "the second runs it if a repetition is allowed")
                sim.expect(ends.events == (isRun ? ["second"] : []), "one body has come to its end, at most")
            }
        }
    }

    @Test func aRunThatFailsIsRepeatedOnlyIfThatIsGuaranteed() async throws {
        for guarantee in Guarantee.allCases {
            try await inVirtualTime { sim in
                let store = MemoryStore()
                let error = await failure {
                    try await Self.run("monday", in: store, guarantee) { _ in throw MarkedError("refused") }
                }
                sim.expect(error is MarkedError, "the error of the body")
                let isRun = try await Self.run("monday", in: store, guarantee) { _ in }
                sim.expect(isRun == (guarantee == .atLeastOnce))
            }
        }
    }

    /// The store does not answer, or is not reached, when the run is recorded.
    @Test func aRecordWhoseAnswerIsLostIsNotWrittenTwice() async throws {
        for guarantee in Guarantee.allCases {
            for fault in [FaultyStore.Fault.lostAnswer, .lostRequest, .unavailable] {
                try await inVirtualTime { sim in
                    let (memory, failures, runs) = (MemoryStore(), Locked(2), Locked(0))
                    let store = FaultyStore(memory) { call in
                        guard call.isRecord else { return .none }
                        let fails = failures.withLock { left in
                            left -= 1
                            return left >= 0
                        }
                        return fails ? fault : .none
                    }
                    let isRun = try await Self.run("monday", in: store, guarantee) { _ in runs.withLock { $0 += 1 } }
                    sim.expect(isRun && runs.withLock(\.self) == 1, "it was run once")
                    let entry = try await memory.line("once/job/done").first
                    let text = entry.map { String(decoding: $0.value, as: UTF8.self) } ?? ""
                    sim.expect(text.components(separatedBy: "monday").count == 2, "it is recorded once: \(text)")
                    let isRepeated = try await Self.run("monday", in: store, guarantee) { _ in }
                    sim.expect(!isRepeated, "it is not repeated")
                }
            }
        }
    }

    @Test func aRunWhoseCallerIsCancelledAfterTheBodyIsRecorded() async throws {
        try await inVirtualTime { sim in
            let store = MemoryStore()
            let caller = Task {
                try await Self.run("monday", in: store) { _ in withUnsafeCurrentTask { $0?.cancel() } }
            }
            sim.expect(try await caller.value, "the body has returned")
            let isRepeated = try await Self.run("monday", in: store) { _ in sim.expect(false, "it was run") }
            sim.expect(!isRepeated)
        }
    }

    @Test func aCallerThatIsCancelledWhileItWaitsRunsNothing() async throws {
        try await inVirtualTime { sim in
            let (store, started) = (MemoryStore(), Gate())
            let first = Task {
                try await Self.run("monday", in: store) { _ in
                    started.open()
                    try await Task.sleep(for: .seconds(60))
                }
            }
            try await started.wait()
            let second = Task {
                try await Self.run("monday", in: store) { _ in sim.expect(false, "it was run") }
            }
            try await Task.sleep(for: .seconds(1))
            second.cancel()
            sim.expect(await failure { _ = try await second.value } is CancellationError, "it stops waiting")
            sim.expect(sim.now < .seconds(2), "at once")
            sim.expect(try await first.value, "the first is not affected")
        }
    }

    @Test func anEntryOfOtherSoftwareIsAnError() async throws {
        try await inVirtualTime { sim in
            let store = MemoryStore()
            _ = try await store.transact(StoreTransaction(success: [.put("once/job/done", Data("?".utf8))]))
            let error = await failure {
                try await Self.run("monday", in: store) { _ in sim.expect(false, "it was run") }
            }
            sim.expect((error as? StoreError)?.reason == .refused, "\(String(describing: error))")
        }
    }

    /// Random programs: machines that call for several periods, and are cut off, cancelled or fail at any point.
    @Test func randomMachinesKeepTheGuarantee() async throws {
        for guarantee in Guarantee.allCases {
            try await inVirtualTime(2_000) { sim in
                var random = sim.random
                let (memory, begun, ended) = (MemoryStore(), OrderRecorder<String>(), OrderRecorder<String>())
                let done = OrderRecorder<String>()
                let hasFaults = Bool.random(using: &random)
                await withTaskGroup(of: Void.self) { group in
                    for machine in 0..<3 {
                        let start = Duration.milliseconds(Int.random(in: 0..<3_000, using: &random))
                        let work = Duration.milliseconds(Int.random(in: 0..<8_000, using: &random))
                        let isCutOff = hasFaults && machine > 0 && Bool.random(using: &random)
                        let cut = Duration.milliseconds(Int.random(in: 0..<20_000, using: &random))
                        let store = FaultyStore(memory)
                        if isCutOff {
                            group.addTask {
                                try? await Task.sleep(for: cut)
                                store.fail { _ in .unavailable }
                                try? await Task.sleep(for: .seconds(30))
                                store.fail { _ in .none }
                            }
                        }
                        group.addTask {
                            try? await Task.sleep(for: start)
                            for period in ["monday", "tuesday"] {
                                do {
                                    try await Self.run(period, in: store, guarantee) { lease in
                                        begun.record(period)
                                        try await Task.sleep(for: work)
                                        try lease.check()
                                        ended.record(period)
                                    }
                                    done.record(period)
                                } catch {}
                            }
                        }
                    }
                }
                for period in ["monday", "tuesday"] {
                    let (begins, ends) = (begun.events.count { $0 == period }, ended.events.count { $0 == period })
                    // The machine that is never cut off has come to its end.
                    sim.expect(done.events.contains(period), "a machine knows that \(period) is done")
                    switch guarantee {
                    case .atLeastOnce: sim.expect(ends >= 1, "\(period) was run")
                    default: sim.expect(begins <= 1, "\(period) was begun \(begins) times")
                    }
                    if !hasFaults { sim.expect(begins == 1 && ends == 1, "\(period) was run once without faults") }
                }
            }
        }
    }
}

extension FaultyStore.Call {
    /// Whether it records a run.
    fileprivate var isRecord: Bool {
        guard case .transact(let transaction) = self else { return false }
        return transaction.success.contains { if case .put("once/job/done", _, _) = $0 { true } else { false } }
    }
}
