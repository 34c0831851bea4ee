internal import Foundation
internal import TaskControl

/// The entry of a store with the recorded runs of one name.
struct RunLedger: Sendable {
    let name: String
    let store: any StoreOperations

    private var key: String { "once/\(FleetLine.escaped(name))/done" }

    /// Reads the recorded runs.
    ///
    /// - Throws: ``StoreError``, also if other software has written the entry; `CancellationError` if the caller is
    ///   cancelled.
    nonisolated(nonsending) func read() async throws -> (record: RunRecord, entry: StoreEntry?) {
        guard let entry = try await store.read(.key(key)).entries.first else { return (RunRecord(), nil) }
        guard let record = try? JSONDecoder().decode(RunRecord.self, from: entry.value) else {
            throw StoreError(.refused, "the entry with the runs of runOnce cannot be decoded")
        }
        return (record, entry)
    }

    /// Reads the recorded runs while the caller holds a lease. A call of the store that fails is repeated while the
    /// lease is valid.
    nonisolated(nonsending) func read(
        under lease: Lease,
        clock: some Clock<Duration>
    ) async throws -> RunRecord {
        try await repeating(under: lease, clock: clock) { try await read().record }
    }

    /// Records a run, if the lease is still held. A call of the store that fails is repeated while the lease is valid.
    /// Not affected by the cancellation or the deadline of the caller, whose body has ended or must not begin without
    /// the record.
    ///
    /// - Throws: ``LeaseLostError`` if the lease is no longer held; ``StoreError``.
    nonisolated(nonsending) func record(
        _ period: String,
        under lease: Lease,
        clock: some Clock<Duration>
    ) async throws {
        let outcome = Locked(Result<Void, any Error>.success(()))
        await withoutDeadline {
            spawn {
                do {
                    try await repeating(under: lease, clock: clock) { try await add(period, under: lease) }
                } catch {
                    outcome.withLock { $0 = .failure(error) }
                }
            }
        }.value
        try outcome.withLock(\.self).get()
    }

    private nonisolated(nonsending) func add(_ period: String, under lease: Lease) async throws {
        let (record, entry) = try await read()
        // A call before this one, whose answer was lost.
        if record.run(of: period)?.token == lease.token { return }
        let changed = record.adding(RunRecord.Run(period: period, token: lease.token))
        let transaction = StoreTransaction(
            comparisons: [entry.map { .modifyRevision(key, $0.modifyRevision) } ?? .absent(key)],
            success: [.put(key, try JSONEncoder().encode(changed))]
        )
        // Only the holder of the lease changes the entry.
        guard try await store.transact(lease.guarded(transaction)).succeeded else {
            throw LeaseLostError(name: name, reason: .removed)
        }
    }

    private nonisolated(nonsending) func repeating<Value>(
        under lease: Lease,
        clock: some Clock<Duration>,
        _ call: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        let policy = RetryPolicy(
            attempts: .max,
            backoff: .exponential(base: .milliseconds(50)).capped(at: .seconds(1)).jittered(.full),
            budget: nil
        ) { error in
            let reason = (error as? StoreError)?.reason
            return lease.isValid && (reason == .unavailable || reason == .ambiguous)
        }
        return try await retry(policy, clock: clock, operation: call)
    }
}

/// The runs of one name that ``runOnce(_:for:in:timeToLive:holder:clock:body:)`` has recorded, as they are
/// stored in one entry of the store.
struct RunRecord: Codable, Equatable {
    /// A period that has been run, or is being run (``runAtMostOnce(_:for:in:timeToLive:holder:clock:body:)``).
    struct Run: Codable, Equatable {
        let period: String
        /// The fencing token of the caller that has recorded the run.
        let token: Lease.FencingToken
    }

    /// The number of runs that are kept: the entry does not grow.
    static let limit = 100

    /// The recorded runs, the oldest first.
    private(set) var runs: [Run] = []

    /// Returns the run of a period; `nil` if none is recorded. Periods are compared byte by byte, in UTF-8.
    func run(of period: String) -> Run? { runs.last { $0.period.isSameKey(as: period) } }

    /// Returns the record with a run added. If there are more than ``limit`` runs, the oldest is removed.
    func adding(_ run: Run) -> RunRecord { RunRecord(runs: (runs + [run]).suffix(Self.limit)) }

    init(runs: [Run] = []) { self.runs = runs }
}
