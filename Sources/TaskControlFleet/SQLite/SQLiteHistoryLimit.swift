#if SQLite
/// How much a ``SQLiteStore`` keeps of the changes for watches. The older changes are dropped.
struct SQLiteHistoryLimit: Hashable, Sendable {
    /// The greatest number of changes.
    let changes: Int
    /// The greatest number of bytes: of keys and values, and ``bytesPerChange``.
    let bytes: Int64

    /// The number of bytes of a change beyond its key and value, with the rows of its indices, rounded up.
    static let bytesPerChange: Int64 = 64

    /// - Parameter bytes: By default 4 MiB: 1,000 changes with values of 4 KiB, which are larger than those of leases and of most flights.
    init(changes: Int, bytes: Int = 4 << 20) {
        (self.changes, self.bytes) = (max(0, changes), Int64(max(0, bytes)))
    }
}
#endif
