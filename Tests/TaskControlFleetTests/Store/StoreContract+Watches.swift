import Foundation
import TaskControl
import TaskControlFleet
import TaskControlTesting

extension StoreContract {
    static let watchChecks: [Check] = [
        Check("the first report of a watch has no changes") { contract in
            let before = try await contract.revision()
            try await contract.transact(contract.put("a"))
            for revision in [before, try await contract.revision()] {
                let reports = try await contract.watch(after: revision, "the first report") { _ in true }
                try contract.expect(reports[0].changes.isEmpty && reports[0].isComplete, "\(reports)")
            }
        },
        Check("a watch reports each change once, in the order of the revisions") { contract in
            let start = try await contract.revision()
            let reports = try await contract.watch(after: start, "the changes") {
                try await contract.transact(contract.put("a"))
                try await contract.transact(contract.put("b"), contract.put("c"))
                try await contract.transact(contract.put("a"))
                try await contract.transact(.delete(.key(contract.key("b"))))
                try await contract.transact(contract.put("end"))
            } until: { reports in
                reports.flatMap { $0.texts(without: contract.prefix) }.contains("put end")
            }
            let texts = reports.flatMap { $0.texts(without: contract.prefix) }
            // The order within one transaction is not promised.
            let sorted = texts.prefix(1) + texts.dropFirst().prefix(2).sorted() + texts.dropFirst(3)
            try contract.expect(
                Array(sorted) == ["put a", "put b", "put c", "put a", "delete b", "put end"],
                "\(texts)"
            )
            try contract.expectOrder(reports)
        },
        Check("a watch reports the history after its revision") { contract in
            var revisions: [Int64] = []
            for name in ["a", "b", "c", "end"] {
                revisions.append(try await contract.transact(contract.put(name)).revision)
            }
            for (index, revision) in revisions.dropLast().enumerated() {
                let reports = try await contract.watch(after: revision, "the history") { reports in
                    reports.flatMap { $0.texts(without: contract.prefix) }.contains("put end")
                }
                let texts = reports.flatMap { $0.texts(without: contract.prefix) }
                try contract.expect(texts == Array(["put b", "put c", "put end"][index...]), "\(texts)")
                try contract.expectOrder(reports)
            }
        },
        Check("a watch that begins where another one ended misses nothing and repeats nothing") { contract in
            var (revision, texts) = (try await contract.revision(), [String]())
            for number in 0..<5 {
                let after = revision
                let reports = try await contract.watch(after: after, "the change") {
                    try await contract.transact(contract.put("\(number)"))
                } until: {
                    $0.contains { !$0.changes.isEmpty }
                }
                texts += reports.flatMap { $0.texts(without: contract.prefix) }
                revision = reports.last?.revision ?? revision
                try contract.expectOrder(reports)
            }
            try contract.expect(texts == (0..<5).map { "put \($0)" }, "\(texts)")
        },
        Check("a watch reports its range and nothing else") { contract in
            let start = try await contract.revision()
            for (range, expected) in [
                (StoreRange.prefix(contract.key("a/")), ["put a/1", "put a/2"]), (.key(contract.key("a")), ["put a"]),
            ] {
                let reports = try await contract.watch(range, after: start, "the changes") {
                    for name in ["a", "a0", "a/1", "b", "a/2"] { try await contract.transact(contract.put(name)) }
                } until: {
                    $0.flatMap(\.changes).count >= expected.count
                }
                let texts = reports.flatMap { $0.texts(without: contract.prefix) }
                try contract.expect(texts.starts(with: expected), "\(texts)")
            }
        },
        Check("a watch reports entries with their values, revisions and leases") { contract in
            let start = try await contract.revision()
            let lease = try await contract.store.grantLease(timeToLive: contract.timeToLive * 10)
            let put = try await contract.transact(contract.put("a", "1", lease: lease.id))
            let reports = try await contract.watch(after: start, "the change") { $0.contains { !$0.changes.isEmpty } }
            let entry = StoreEntry(
                key: contract.key("a"),
                value: Data("1".utf8),
                createRevision: put.revision,
                modifyRevision: put.revision,
                lease: lease.id
            )
            try contract.expect(reports.flatMap(\.changes) == [.put(entry)], "\(reports)")
            try await contract.store.revokeLease(lease.id)
            let end = try await contract.watch(after: put.revision, "the end of the lease") {
                $0.contains { !$0.changes.isEmpty }
            }
            try contract.expect(end.flatMap { $0.texts(without: contract.prefix) } == ["delete a"], "\(end)")
            // Two watches: the first can have received later changes of other ranges.
            try contract.expectOrder(reports)
            try contract.expectOrder(end)
        },
        Check("every watch of a range receives every change") { contract in
            let start = try await contract.revision()
            let begun = Locked(0)
            try await contract.concurrently(8) { _ in
                let reports = try await contract.watch(after: start, "the changes") {
                    let isLast = begun.withLock { count in
                        count += 1
                        return count == 8
                    }
                    if isLast { for number in 0..<10 { try await contract.transact(contract.put("\(number)")) } }
                } until: {
                    $0.flatMap(\.changes).count >= 10
                }
                let texts = reports.flatMap { $0.texts(without: contract.prefix) }
                try contract.expect(texts == (0..<10).map { "put \($0)" }, "\(texts)")
                try contract.expectOrder(reports)
            }
        },
        Check("a cancelled watch throws a cancellation error at once") { contract in
            let (store, range, hasBegun) = (contract.store, StoreRange(contract.all), Gate())
            let revision = try await contract.revision()
            let task = Task {
                try await store.watch(range, after: revision) { _ in hasBegun.open() }
            }
            try await contract.soon("the first report") { try await hasBegun.wait() }
            task.cancel()
            let result = try await contract.soon("the end of the watch") { await task.result }
            switch result {
            case .failure(let error): try contract.expect(error is CancellationError, "it throws \(error)")
            case .success: throw Violation(description: "a cancelled watch returns")
            }
        },
        Check("a watch throws the error of its closure") { contract in
            struct Mistake: Error {}
            let revision = try await contract.revision()
            do {
                try await contract.store.watch(StoreRange(contract.all), after: revision) { _ in throw Mistake() }
                throw Violation(description: "the watch has returned")
            } catch is Mistake {}
        },
        Check("a slow watch is complete, or says that it is not") { contract in
            let start = try await contract.revision()
            let names = Locked<[String]>([])
            let reports = try await contract.watch(after: start, "the changes") {
                for number in 0..<30 { try await contract.transact(contract.put("\(number)")) }
                try await contract.transact(contract.put("end"))
            } until: { reports in
                names.withLock { $0 += reports.last!.texts(without: contract.prefix) }
                return reports.contains { !$0.isComplete } || names.withLock { $0.contains("put end") }
            }
            if reports.contains(where: { !$0.isComplete }) { return }
            try contract.expect(names.withLock(\.self) == (0..<30).map { "put \($0)" } + ["put end"], "\(reports)")
        },
        Check("a watch after a revision that is not kept any more is incomplete") { contract in
            guard let compact = contract.compact else { return }
            let start = try await contract.transact(contract.put("a")).revision
            try await contract.transact(contract.put("a"))
            let last = try await contract.transact(contract.put("a")).revision
            try await compact()
            let reports = try await contract.watch(after: start, "an incomplete report, and the next change") {
                _ = try await contract.watch(after: start, "an incomplete report") { $0.contains { !$0.isComplete } }
                try await contract.transact(contract.put("b"))
            } until: { reports in
                reports.flatMap { $0.texts(without: contract.prefix) }.contains("put b")
            }
            let incomplete = reports.firstIndex { !$0.isComplete }
            let change = reports.firstIndex { !$0.changes.isEmpty }
            try contract.expect(incomplete != nil && incomplete! <= change!, "\(reports)")
            try contract.expect(reports[incomplete!].revision >= last, "\(reports)")
        },
    ]

    /// Expects that no change is reported twice or late, and that reports say up to where they reach.
    private func expectOrder(_ reports: [StoreChanges], line: Int = #line) throws {
        var (last, reached) = (Int64.min, Int64.min)
        for report in reports {
            for change in report.changes {
                try expect(
                    change.revision >= last && change.revision > reached,
                    "\(change) after \(last), \(reached)",
                    line: line
                )
                last = change.revision
            }
            try expect(report.revision >= max(last, reached), "\(report) after \(reached)", line: line)
            reached = report.revision
        }
    }
}
