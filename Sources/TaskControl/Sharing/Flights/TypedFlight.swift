/// A flight with the result of its work.
@usableFromInline
typealias _TypedFlight<Value: Sendable> = _FlightStoring<Result<Value, any Error>?>

/// A flight, and what it stores: generic over the whole of that, so that a release of the flight does not look up the type.
///
/// Sendable: the flight's task writes the result before it reports its end under the lock, and callers read it after they have learned of that.
@usableFromInline
final class _FlightStoring<Stored>: _Flight, @unchecked Sendable {
    @usableFromInline var result: Stored

    @inlinable
    init(_ table: _FlightTable, _ key: _ErasedKey?, inside outer: [_FlightPlace], _ result: Stored) {
        self.result = result
        super.init(table, key, inside: outer)
    }
}
