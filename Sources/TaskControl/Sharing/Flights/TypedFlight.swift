/// A flight with its result.
///
/// Sendable: the flight's task writes the result before it reports its end under the lock, and callers read it after they have learned of that.
@usableFromInline
final class _TypedFlight<Value: Sendable>: _Flight, @unchecked Sendable {
    @usableFromInline var result: Result<Value, any Error>?

    @inlinable
    override init(_ table: _FlightTable, _ key: _ErasedKey?, inside outer: [_FlightPlace]) {
        super.init(table, key, inside: outer)
    }
}
