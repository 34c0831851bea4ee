import TaskControlFleet

extension StoreContract {
    static let leaseChecks: [Check] = [
        Check("a lease has at least the duration that was asked for, and an ID of its own") { contract in
            let leases = [
                try await contract.store.grantLease(timeToLive: contract.timeToLive),
                try await contract.store.grantLease(timeToLive: contract.timeToLive * 3),
            ]
            try contract.expect(leases[0].timeToLive >= contract.timeToLive, "\(leases[0])")
            try contract.expect(leases[1].timeToLive >= contract.timeToLive * 3, "\(leases[1])")
            try contract.expect(leases[0].id != leases[1].id, "\(leases)")
            for lease in leases { try await contract.store.revokeLease(lease.id) }
        },
        Check("a lease that expires removes its entries, not earlier than granted", waitsForLeases: true) { contract in
            let elapsed = contract.stopwatch()
            let lease = try await contract.store.grantLease(timeToLive: contract.timeToLive)
            let put = try await contract.transact(
                contract.put("a", lease: lease.id),
                contract.put("b", lease: lease.id),
                contract.put("c")
            )
            let reports = try await contract.watch(after: put.revision, "the end of the lease") { reports in
                reports.flatMap(\.changes).count >= 2
            }
            try contract.expect(elapsed() >= lease.timeToLive, "ended after \(elapsed()) of \(lease.timeToLive)")
            let texts = reports.flatMap { $0.texts(without: contract.prefix) }
            try contract.expect(texts.sorted() == ["delete a", "delete b"], "\(texts)")
            try contract.expect(try await contract.names() == ["c"], "the other entry is there")
            try await contract.expect(.leaseNotFound, "renewing a lease that has expired") {
                _ = try await contract.store.renewLease(lease.id)
            }
            try await contract.expect(.leaseNotFound, "attaching to a lease that has expired") {
                try await contract.transact(contract.put("d", lease: lease.id))
            }
        },
        Check("a lease that is renewed does not expire", waitsForLeases: true) { contract in
            try await contract.withTimeToRenew { timeToLive in
                let lease = try await contract.store.grantLease(timeToLive: timeToLive)
                try await contract.transact(contract.put("a", lease: lease.id))
                for _ in 0..<6 {
                    try await contract.sleep(timeToLive / 3)
                    let renewed = try await contract.store.renewLease(lease.id)
                    try contract.expect(renewed.id == lease.id && renewed.timeToLive >= timeToLive, "\(renewed)")
                }
                let created = try await contract.entry("a")
                try contract.expect(created?.lease == lease.id, "\(String(describing: created))")
                _ = try await contract.watch(after: created?.modifyRevision ?? 0, "the end of the lease") {
                    $0.contains { !$0.changes.isEmpty }
                }
            }
        },
        Check("a renewal begins the whole duration again", waitsForLeases: true) { contract in
            try await contract.withTimeToRenew { timeToLive in
                let lease = try await contract.store.grantLease(timeToLive: timeToLive)
                let put = try await contract.transact(contract.put("a", lease: lease.id))
                try await contract.sleep(timeToLive / 2)
                let elapsed = contract.stopwatch()
                let renewed = try await contract.store.renewLease(lease.id)
                _ = try await contract.watch(after: put.revision, "the end of the lease") {
                    $0.contains { !$0.changes.isEmpty }
                }
                try contract.expect(elapsed() >= renewed.timeToLive, "ended \(elapsed()) after the renewal")
            }
        },
        Check("a lease that is revoked removes its entries at once") { contract in
            let lease = try await contract.store.grantLease(timeToLive: contract.timeToLive * 10)
            let other = try await contract.store.grantLease(timeToLive: contract.timeToLive * 10)
            try await contract.transact(
                contract.put("a", lease: lease.id),
                contract.put("b", lease: other.id),
                contract.put("c", lease: lease.id)
            )
            try await contract.store.revokeLease(lease.id)
            try contract.expect(try await contract.names() == ["b"], "only the entry of the other lease is there")
            try await contract.expect(.leaseNotFound, "renewing a revoked lease") {
                _ = try await contract.store.renewLease(lease.id)
            }
            try await contract.expect(.leaseNotFound, "attaching to a revoked lease") {
                try await contract.transact(contract.put("d", lease: lease.id))
            }
            // There is none any more.
            try await contract.store.revokeLease(lease.id)
            try await contract.store.revokeLease(other.id)
            try contract.expect(try await contract.names() == [], "no entry is there")
        },
        Check("a lease that was never granted is not found") { contract in
            let lease = try await contract.store.grantLease(timeToLive: contract.timeToLive)
            try await contract.store.revokeLease(lease.id)
            let unknown = LeaseID(rawValue: lease.id.rawValue + 1_000_003)
            try await contract.expect(.leaseNotFound, "renewing") { _ = try await contract.store.renewLease(unknown) }
            try await contract.store.revokeLease(unknown)
        },
        Check("an entry belongs to the lease of its last put") { contract in
            let leases = [
                try await contract.store.grantLease(timeToLive: contract.timeToLive * 10),
                try await contract.store.grantLease(timeToLive: contract.timeToLive * 10),
            ]
            for name in ["moved", "free"] { try await contract.transact(contract.put(name, lease: leases[0].id)) }
            try await contract.transact(contract.put("moved", lease: leases[1].id), contract.put("free"))
            try await contract.store.revokeLease(leases[0].id)
            try contract.expect(try await contract.names() == ["free", "moved"], "both are there")
            try contract.expect(try await contract.entry("free")?.lease == nil, "one has no lease")
            try await contract.store.revokeLease(leases[1].id)
            try contract.expect(try await contract.names() == ["free"], "one is there")
        },
        Check("a removed entry stays removed when its lease ends") { contract in
            let lease = try await contract.store.grantLease(timeToLive: contract.timeToLive * 10)
            try await contract.transact(contract.put("a", lease: lease.id))
            try await contract.transact(.delete(.key(contract.key("a"))))
            try await contract.transact(contract.put("a"))
            try await contract.store.revokeLease(lease.id)
            try contract.expect(try await contract.names() == ["a"], "the new entry is not attached")
        },
        Check("a transaction after a renewal has its term") { contract in
            let lease = try await contract.store.grantLease(timeToLive: contract.timeToLive * 10)
            try await contract.transact(contract.put("a", lease: lease.id))
            // A real cluster can elect a leader in between, once in a while.
            var terms: [(UInt64, UInt64)] = []
            for _ in 0..<3 {
                let renewed = try await contract.store.renewLease(lease.id)
                let result = try await contract.transact(.read(.key(contract.key("a"))))
                terms.append((renewed.term, result.term))
                if renewed.term == result.term { return try await contract.store.revokeLease(lease.id) }
            }
            throw Violation(description: "the terms \(terms)")
        },
        Check("a cancelled caller receives a cancellation error") { contract in
            let lease = try await contract.store.grantLease(timeToLive: contract.timeToLive * 10)
            let (store, range) = (contract.store, StoreRange(contract.all))
            let operations: [(String, @Sendable () async throws -> Void)] = [
                ("grant", { _ = try await store.grantLease(timeToLive: .seconds(20)) }),
                ("renew", { _ = try await store.renewLease(lease.id) }),
                ("revoke", { try await store.revokeLease(lease.id) }),
                ("transact", { _ = try await store.transact(StoreTransaction(success: [.read(range)])) }),
                ("read", { _ = try await store.read(range) }),
                ("watch", { try await store.watch(range, after: 1) { _ in } }),
            ]
            for (name, operation) in operations {
                let task = Task {
                    // Cancelled before it calls.
                    withUnsafeCurrentTask { $0?.cancel() }
                    try await operation()
                }
                switch await task.result {
                case .failure(let error): try contract.expect(error is CancellationError, "\(name) throws \(error)")
                case .success: throw Violation(description: "\(name) does not throw")
                }
            }
        },
    ]
}
