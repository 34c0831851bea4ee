import Testing

@testable import fleet_workload

/// The check finds the violations that a history has.
@Suite struct VerdictTests {
    private func record(
        _ kind: Record.Kind,
        _ workload: Record.Workload,
        worker: Int = 1,
        at time: UInt64,
        token: Int64? = nil,
        element: String? = nil
    ) -> Record {
        Record(kind: kind, workload: workload, worker: worker, time: time, token: token, element: element)
    }

    /// Three leases of each workload, one after another, each of which adds an element.
    private var healthy: [Record] {
        Record.Workload.allCases.flatMap { workload in
            (0..<3 as Range<UInt64>).flatMap { number in
                let (time, token) = (number * 100, Int64(number) + 1)
                return [
                    record(.entered, workload, at: time, token: token),
                    record(.valid, workload, at: time + 50, token: token),
                    record(.attempted, workload, at: time + 60, token: token, element: "\(number)"),
                    record(.added, workload, at: time + 70, token: token, element: "\(number)"),
                    record(.left, workload, at: time + 80, token: token),
                ]
            }
        }
    }

    private let all = ["0", "1", "2"]

    @Test func aHealthyHistoryHasNoViolation() {
        let verdict = Verdict(healthy, crashed: [], file: all, store: all)
        #expect(verdict.violations.isEmpty)
        #expect(verdict.overlaps.isEmpty)
        #expect(verdict.store.added == 3 && verdict.file.added == 3)
    }

    @Test func aLostUpdateOfTheStoreIsAViolation() {
        let verdict = Verdict(healthy, crashed: [], file: all, store: ["0", "2"])
        #expect(verdict.store.lost == ["1"])
        #expect(verdict.violations.contains { $0.contains("lost updates of the set in the store") })
    }

    @Test func aLostUpdateOfTheFileIsCounted() {
        let verdict = Verdict(healthy, crashed: [], file: ["0"], store: all)
        #expect(verdict.file.lost == ["1", "2"])
        #expect(verdict.violations.isEmpty)
    }

    @Test func anElementThatWasAttemptedAndNotAcknowledgedMayBeThereOrNot() {
        let records = healthy + [record(.attempted, .store, at: 900, token: 9, element: "9")]
        #expect(Verdict(records, crashed: [], file: all, store: all).violations.isEmpty)
        #expect(Verdict(records, crashed: [], file: all, store: all + ["9"]).violations.isEmpty)
        #expect(!Verdict(healthy, crashed: [], file: all, store: all + ["9"]).violations.isEmpty)
    }

    @Test func leasesThatAreValidAtTheSameTimeOverlap() {
        let other = [
            record(.entered, .mutex, worker: 2, at: 40, token: 7), record(.valid, .mutex, worker: 2, at: 45, token: 7),
            // Another name.
            record(.entered, .file, worker: 2, at: 90, token: 7),
        ]
        let verdict = Verdict(healthy + other, crashed: [], file: all, store: all)
        #expect(verdict.overlaps.count == 1)
        #expect(verdict.overlaps.first?.hasPrefix("mutex") == true)
    }

    @Test func aTokenOfTwoLeasesIsAViolation() {
        let other = record(.entered, .mutex, worker: 2, at: 1_000, token: 1)
        #expect(Verdict(healthy + [other], crashed: [], file: all, store: all).repeatedTokens == [1])
    }

    @Test func aWorkloadThatHasNotRunIsAViolation() {
        let records = healthy.filter { $0.workload != .mutex }
        #expect(!Verdict(records, crashed: [], file: all, store: all).violations.isEmpty)
    }

    @Test func aWorkerThatHasEndedByItselfIsAViolation() {
        #expect(!Verdict(healthy, crashed: [3], file: all, store: all).violations.isEmpty)
    }
}
