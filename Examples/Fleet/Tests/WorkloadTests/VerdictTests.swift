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

    /// The records of three leases of each workload, one after another, each of which adds an element.
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
        let verdict = Verdict(healthy, Conditions(), file: all, store: all)
        #expect(verdict.violations.isEmpty)
        #expect(verdict.overlaps.isEmpty)
        #expect(verdict.store.added == 3 && verdict.file.added == 3)
    }

    @Test func aLostUpdateOfTheStoreIsAViolation() {
        let verdict = Verdict(healthy, Conditions(), file: all, store: ["0", "2"])
        #expect(verdict.store.lost == ["1"])
        #expect(verdict.violations.contains { $0.contains("lost updates of the set in the store") })
    }

    @Test func aLostUpdateOfTheFileIsCounted() {
        let verdict = Verdict(healthy, Conditions(), file: ["0"], store: all)
        #expect(verdict.file.lost == ["1", "2"])
        #expect(verdict.violations.isEmpty)
    }

    @Test func anElementThatWasAttemptedAndNotAcknowledgedMayBeThereOrNot() {
        let records = healthy + [record(.attempted, .store, at: 900, token: 9, element: "9")]
        #expect(Verdict(records, Conditions(), file: all, store: all).violations.isEmpty)
        #expect(Verdict(records, Conditions(), file: all, store: all + ["9"]).violations.isEmpty)
        #expect(!Verdict(healthy, Conditions(), file: all, store: all + ["9"]).violations.isEmpty)
    }

    @Test func leasesThatAreValidAtTheSameTimeAreAViolation() {
        let other = [
            record(.entered, .mutex, worker: 2, at: 40_000_000, token: 7),
            record(.valid, .mutex, worker: 2, at: 45_000_000, token: 7),
            record(.valid, .mutex, worker: 2, at: 95_000_000, token: 7),
            // Another name.
            record(.entered, .file, worker: 2, at: 90_000_000, token: 7),
            record(.valid, .file, worker: 2, at: 90_000_000, token: 7),
            record(.entered, .mutex, worker: 3, at: 90_000_000, token: 8),
            record(.valid, .mutex, worker: 3, at: 90_000_000, token: 8),
            record(.valid, .mutex, worker: 3, at: 99_000_000, token: 8),
        ]
        let verdict = Verdict(healthy + other, Conditions(), file: all, store: all)
        #expect(verdict.overlaps.map(\.workload) == [.mutex])
        #expect(verdict.longestOverlap == 5)
        #expect(verdict.violations.contains { $0.contains("1 overlaps of valid leases, of 5 ms") })
    }

    @Test func aBodyThatHasBegunIsNoValidLease() {
        // The process was stopped between the acquisition and the first line of the body.
        let other = [
            record(.entered, .mutex, worker: 2, at: 149, token: 2), record(.left, .mutex, worker: 2, at: 160, token: 2),
        ]
        let records = healthy.filter { $0.workload != .mutex || $0.token != 2 } + other
        #expect(Verdict(records, Conditions(), file: all, store: all).violations.isEmpty)
    }

    @Test func aTokenThatDoesNotIncreaseFromLeaseToLeaseIsAViolation() {
        let other = [
            record(.entered, .mutex, worker: 2, at: 500, token: 0),
            record(.valid, .mutex, worker: 2, at: 510, token: 0),
        ]
        let verdict = Verdict(healthy + other, Conditions(), file: all, store: all)
        #expect(verdict.disorder == ["mutex: worker 2 with token 0 after worker 1 with token 3"])
        #expect(!verdict.violations.isEmpty)
    }

    @Test func anElementBehindOneWithAGreaterTokenIsAViolation() {
        let verdict = Verdict(healthy, Conditions(), file: all, store: ["0", "2", "1"])
        #expect(verdict.disorder == ["set in the store: 1 with token 2 behind 2 with token 3"])
        #expect(!verdict.violations.isEmpty)
    }

    @Test func anElementThatIsAddedAfterOneWithAGreaterTokenIsAViolation() {
        let late = [
            record(.attempted, .store, at: 600, token: 2, element: "9"),
            record(.added, .store, at: 610, token: 2, element: "9"),
        ]
        // The element is in no order of the set.
        let verdict = Verdict(healthy + late, Conditions(), file: all, store: all)
        #expect(verdict.disorder == ["set in the store: 9 with token 2 after 2 with token 3"])
    }

    @Test func anAcknowledgmentThatIsRecordedLateIsNoViolation() {
        // The process was stopped between the answer of the store and the record.
        let records = healthy.map { record in
            var record = record
            if record.kind == .added, record.workload == .store, record.element == "0" { record.time = 900 }
            return record
        }
        #expect(Verdict(records, Conditions(), file: all, store: all).violations.isEmpty)
    }

    @Test func aRunThatWasNotCompleteIsAViolation() {
        func violations(_ conditions: Conditions) -> [String] {
            Verdict(healthy, conditions, file: all, store: all).violations
        }
        let kinds = [Fault.Kind.killedWorker, .stoppedHolder]
        let counts: [Fault.Kind: Int] = [.killedWorker: 2, .stoppedHolder: 1]
        #expect(violations(Conditions(faults: counts, expectedFaults: kinds)).isEmpty)
        #expect(
            violations(Conditions(faults: [.killedWorker: 2], expectedFaults: kinds))
                == ["faults that have not happened: stopped holder"]
        )
        #expect(violations(Conditions(unknownConnections: 1)).count == 1)
        #expect(violations(Conditions(brokenLines: 1)).count == 1)
        #expect(violations(Conditions(unreadOutputs: [4])).count == 1)
    }

    @Test func aTokenOfTwoLeasesIsAViolation() {
        let other = record(.entered, .mutex, worker: 2, at: 1_000, token: 1)
        #expect(Verdict(healthy + [other], Conditions(), file: all, store: all).repeatedTokens == [1])
    }

    @Test func aWorkloadThatHasNotRunIsAViolation() {
        let records = healthy.filter { $0.workload != .mutex }
        #expect(!Verdict(records, Conditions(), file: all, store: all).violations.isEmpty)
    }

    @Test func aWorkerThatHasEndedByItselfIsAViolation() {
        #expect(!Verdict(healthy, Conditions(crashed: [3]), file: all, store: all).violations.isEmpty)
    }

    @Test func theSummaryHasALineForEachWorkload() {
        let conditions = Conditions(faults: [.killedWorker: 2, .stoppedHolder: 1])
        #expect(
            Verdict(healthy, conditions, file: ["0"], store: all).summary("a store", seconds: 60) == [
                "a store, mutex: 60 s; 3 leases; faults: 1 × stopped holder, 2 × killed worker; maximal overlap 0 ms; no updates",
                "a store, file: 60 s; 3 leases, 3 additions; faults: 1 × stopped holder, 2 × killed worker; maximal overlap 0 ms; "
                    + "2 lost updates (no token is checked)",
                "a store, store: 60 s; 3 leases, 3 additions, 0 refused; faults: 1 × stopped holder, 2 × killed worker; "
                    + "maximal overlap 0 ms; 0 lost updates",
            ]
        )
    }
}
