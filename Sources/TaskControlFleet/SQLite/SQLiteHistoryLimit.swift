#if SQLite
/// The limits of the recorded changes that a ``SQLiteStore`` keeps for watches. When a limit is exceeded, the oldest changes are removed.
struct SQLiteHistoryLimit: Hashable, Sendable {
    /// The maximum number of changes.
    let changes: Int
    /// The maximum number of bytes of all changes: the sizes of their keys and values, and ``bytesPerChange`` for each.
    let bytes: Int64

    /// The number of bytes that a change needs in addition to its key and value, including its index rows, rounded up.
    static let bytesPerChange: Int64 = 64

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - changes: The maximum number of changes.
    ///   - bytes: The maximum size of all changes. By default 4 MiB: 1,000 changes with values of 4 KiB, which is more than the entries of leases and
    ///     the results of most ``FleetFlight`` operations need.
    init(changes: Int, bytes: Int = 4 << 20) {
        (self.changes, self.bytes) = (changes, Int64(bytes))
    }
}
#endif
