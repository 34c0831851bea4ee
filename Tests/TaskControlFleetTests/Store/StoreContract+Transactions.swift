import Foundation
import TaskControl
import TaskControlFleet

extension StoreContract {
    static let transactionChecks: [Check] = [
        Check("a transaction without comparisons executes its operations") { contract in
            let result = try await contract.transact(contract.put("a", "1"), contract.put("b", "2"))
            try contract.expect(result.succeeded && result.reads.isEmpty, "\(result)")
            try contract.expect(try await contract.names() == ["a", "b"], "both entries are there")
        },
        Check("a transaction executes one of two lists of operations") { contract in
            try await contract.transact(contract.put("a"))
            for isAbsent in [true, false] {
                let key = contract.key("a")
                let result = try await contract.store.transact(
                    StoreTransaction(
                        comparisons: [.present(key), isAbsent ? .absent(key) : .present(key)],
                        success: [contract.put("success"), .read(.key(key))],
                        failure: [contract.put("failure"), .read(StoreRange(contract.all)), .read(.key(key))]
                    )
                )
                try contract.expect(result.succeeded != isAbsent, "\(result)")
                try contract.expect(result.reads.count == (isAbsent ? 2 : 1), "\(result)")
                let names = try await contract.names()
                try contract.expect(names == (isAbsent ? ["a", "failure"] : ["a", "failure", "success"]), "\(names)")
            }
        },
        Check("each comparison holds for what it says, and for nothing else") { contract in
            try await contract.transact(contract.put("a", "1"))
            try await contract.transact(contract.put("a", "2"))
            guard let entry = try await contract.entry("a") else { throw Violation(description: "no entry") }
            try contract.expect(entry.createRevision < entry.modifyRevision, "\(entry)")
            let (key, other) = (entry.key, contract.key("b"))
            let held: [StoreTransaction.Comparison] = [
                .present(key), .absent(other), .createRevision(key, entry.createRevision),
                .modifyRevision(key, entry.modifyRevision), .value(key, Data("2".utf8)),
            ]
            let failed: [StoreTransaction.Comparison] = [
                .absent(key), .present(other), .createRevision(key, entry.modifyRevision),
                .modifyRevision(key, entry.createRevision), .value(key, Data("1".utf8)), .value(key, Data()),
                .createRevision(other, entry.createRevision), .modifyRevision(other, entry.modifyRevision),
                .value(other, Data()), .value(other, Data("2".utf8)),
                // No entry has the revision 0, although a store may count a missing key so.
                .createRevision(other, 0), .modifyRevision(other, 0), .createRevision(key, 0), .modifyRevision(key, 0),
            ]
            for comparison in held + failed {
                let result = try await contract.store.transact(StoreTransaction(comparisons: [comparison], success: []))
                try contract.expect(result.succeeded == held.contains(comparison), "\(comparison)")
            }
            let all = try await contract.store.transact(StoreTransaction(comparisons: held, success: []))
            try contract.expect(all.succeeded, "all that hold")
            let mixed = StoreTransaction(comparisons: held + [failed[0]], success: [])
            try contract.expect(try await !contract.store.transact(mixed).succeeded, "all must hold")
        },
        Check("a read in a transaction sees the operations before it") { contract in
            try await contract.transact(contract.put("a", "1"), contract.put("b", "1"))
            let range = StoreRange(contract.all)
            let result = try await contract.transact(
                .read(range),
                contract.put("a", "2"),
                .read(range),
                .delete(.key(contract.key("b"))),
                .read(range)
            )
            let values = result.reads.map { $0.map { String(decoding: $0.value, as: UTF8.self) } }
            try contract.expect(values == [["1", "1"], ["2", "1"], ["2"]], "\(values)")
        },
        Check("a transaction with a missing lease changes nothing") { contract in
            let lease = try await contract.store.grantLease(timeToLive: contract.timeToLive * 10)
            try await contract.store.revokeLease(lease.id)
            try await contract.transact(contract.put("a", "1"))
            let before = try await contract.entry("a")
            try await contract.expect(.leaseNotFound, "the transaction") {
                try await contract.transact(contract.put("a", "2"), contract.put("b", lease: lease.id))
            }
            try contract.expect(try await contract.entry("a") == before, "the entry is as it was")
            try contract.expect(try await contract.names() == ["a"], "there is no other entry")
        },
        Check("a transaction that puts a key twice is refused") { contract in
            try await contract.transact(contract.put("a", "1"))
            let twice = [
                [contract.put("a", "2"), contract.put("a", "3")], [contract.put("a", "2"), .delete(contract.all)],
            ]
            for operations in twice {
                try await contract.expect(.refused, "the transaction") {
                    _ = try await contract.store.transact(StoreTransaction(success: operations))
                }
            }
            try contract.expect(try await contract.entry("a")?.value == Data("1".utf8), "the entry is as it was")
        },
        Check("entries have the revisions at which they were created and changed") { contract in
            let first = try await contract.transact(contract.put("a", "1"), contract.put("b", "1"))
            let second = try await contract.transact(contract.put("a", "2"))
            try contract.expect(second.revision > first.revision, "\(first.revision), \(second.revision)")
            for (name, modified) in [("a", second.revision), ("b", first.revision)] {
                let entry = try await contract.entry(name)
                try contract.expect(entry?.createRevision == first.revision, "\(String(describing: entry))")
                try contract.expect(entry?.modifyRevision == modified, "\(String(describing: entry))")
            }
            // The same value again is a change too.
            let third = try await contract.transact(contract.put("a", "2"))
            try contract.expect(try await contract.entry("a")?.modifyRevision == third.revision, "changed again")
            let deletion = try await contract.transact(.delete(.key(contract.key("a"))))
            try contract.expect(deletion.revision > third.revision, "a deletion is a change")
            let fourth = try await contract.transact(contract.put("a", "2"))
            let entry = try await contract.entry("a")
            try contract.expect(
                entry?.createRevision == fourth.revision && fourth.revision > deletion.revision,
                "an entry that was removed is a new one: \(String(describing: entry))"
            )
        },
        Check("a deletion removes its range and nothing else") { contract in
            for name in ["a", "a/1", "a/2", "a0", "b"] { try await contract.transact(contract.put(name)) }
            try await contract.transact(.delete(.prefix(contract.key("a/"))))
            try contract.expect(try await contract.names() == ["a", "a0", "b"], "without the prefix")
            try await contract.transact(.delete(.key(contract.key("a"))), .delete(.key(contract.key("missing"))))
            try contract.expect(try await contract.names() == ["a0", "b"], "without the key")
        },
        Check("of several creators of a key one succeeds") { contract in
            let counts = Locked(0)
            try await contract.concurrently(8) { number in
                let key = contract.key("a")
                let result = try await contract.store.transact(
                    StoreTransaction(
                        comparisons: [.absent(key)],
                        success: [contract.put("a", "\(number)")],
                        failure: [.read(.key(key))]
                    )
                )
                if result.succeeded { counts.withLock { $0 += 1 } }
                try contract.expect(result.succeeded || result.reads.first?.count == 1, "\(result)")
            }
            try contract.expect(counts.withLock(\.self) == 1, "\(counts.withLock(\.self)) creators")
        },
        Check("transactions are serializable") { contract in
            // Each task moves one of two numbers, if both are as it has read them: their sum counts the moves.
            try await contract.transact(contract.put("x", "0"), contract.put("y", "0"))
            try await contract.concurrently(6) { number in
                while true {
                    let entries = try await contract.store.read(StoreRange(contract.all)).entries
                    let moved = entries[number % 2]
                    let value = Int(String(decoding: moved.value, as: UTF8.self)).map { "\($0 + 1)" } ?? "not a number"
                    let result = try await contract.store.transact(
                        StoreTransaction(
                            comparisons: entries.map { .modifyRevision($0.key, $0.modifyRevision) },
                            success: [.put(moved.key, Data(value.utf8))]
                        )
                    )
                    if result.succeeded { break }
                }
            }
            let values = try await contract.store.read(StoreRange(contract.all)).entries.map {
                String(decoding: $0.value, as: UTF8.self)
            }
            try contract.expect(values == ["3", "3"], "\(values)")
        },
        Check("values and keys have any content") { contract in
            let values = [Data(), Data(0...255), Data(repeating: 7, count: 10_000)]
            let names = ["", " ", "a b", "%2F%", "'\"\\", "_", "\u{1F600}", "\n\t", "{\"a\":1}", "?&=#+"]
            for name in names {
                for value in values {
                    try await contract.transact(.put(contract.key(name), value))
                    let entry = try await contract.entry(name)
                    try contract.expect(entry?.value == value, "\(name) has \(String(describing: entry?.value))")
                }
            }
            let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            try contract.expect(try await contract.names() == sorted, "all keys are there")
        },
    ]

    static let readChecks: [Check] = [
        Check("entries are read in the order of their keys as UTF-8") { contract in
            // The third and the fourth are one character in two spellings.
            let names = ["b", "a", "\u{E9}", "e\u{301}", "B", "\u{1F600}", "\u{FFFF}", "a/10", "a/2"]
            for name in names { try await contract.transact(contract.put(name, name)) }
            let read = try await contract.store.read(StoreRange(contract.all)).entries
            let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            try contract.expect(read.map { Array($0.value) } == sorted.map { Array($0.utf8) }, "\(read.map(\.key))")
            try contract.expect(
                read.map { Array($0.key.utf8) } == sorted.map { Array(contract.key($0).utf8) },
                "their keys"
            )
        },
        Check("entries are read in the order of their creation") { contract in
            for name in ["c", "a", "d", "b", "c", "a"] { try await contract.transact(contract.put(name)) }
            let range = StoreRange(contract.all, order: .creation)
            try contract.expect(try await contract.names(range) == ["c", "a", "d", "b"], "a second put does not count")
            let read = try await contract.transact(.read(range)).reads
            try contract.expect(read.map { $0.map { $0.key.last } } == [["c", "a", "d", "b"]], "in a transaction too")
        },
        Check("a limit leaves the first entries of the order") { contract in
            for name in ["c", "a", "b"] { try await contract.transact(contract.put(name)) }
            for (limit, byKey, byCreation) in [
                (1, ["a"], ["c"]), (2, ["a", "b"], ["c", "a"]), (9, ["a", "b", "c"], ["c", "a", "b"]),
            ] {
                let names = try await contract.names(StoreRange(contract.all, limit: limit))
                try contract.expect(names == byKey, "\(names) with limit \(limit)")
                let oldest = try await contract.names(StoreRange(contract.all, order: .creation, limit: limit))
                try contract.expect(oldest == byCreation, "\(oldest) with limit \(limit)")
            }
        },
        Check("a range has one key, or all that begin with a text") { contract in
            for name in ["a", "a/1", "a/2", "a0"] { try await contract.transact(contract.put(name)) }
            try contract.expect(try await contract.names(.prefix(contract.key("a/"))) == ["a/1", "a/2"], "a prefix")
            try contract.expect(
                try await contract.names(.prefix(contract.key("a"))) == ["a", "a/1", "a/2", "a0"],
                "a prefix"
            )
            try contract.expect(try await contract.names(.key(contract.key("a"))) == ["a"], "a key")
            try contract.expect(try await contract.names(.key(contract.key("a/"))) == [], "no key")
        },
        Check("a read returns the newest entries") { contract in
            for number in 0..<20 {
                try await contract.transact(contract.put("a", "\(number)"))
                let value = try await contract.entry("a")?.value
                try contract.expect(value == Data("\(number)".utf8), "\(String(describing: value)), not \(number)")
            }
        },
        Check("a watch after the revision of a read misses nothing") { contract in
            try await contract.transact(contract.put("a"))
            let snapshot = try await contract.store.read(StoreRange(contract.all))
            try contract.expect(snapshot.entries.allSatisfy { $0.modifyRevision <= snapshot.revision }, "\(snapshot)")
            try await contract.transact(contract.put("b"))
            let reports = try await contract.watch(after: snapshot.revision, "the change") {
                $0.contains { !$0.changes.isEmpty }
            }
            let texts = reports.flatMap { $0.texts(without: contract.prefix) }
            try contract.expect(texts == ["put b"], "\(texts)")
        },
    ]
}
