/// A flight (one run of an operation that several callers share) that stores the result of its operation. The result is
/// `nil` until the operation has ended.
@usableFromInline
typealias _TypedFlight<Value: Sendable> = _FlightStoring<Result<Value, any Error>?>

/// A ``_Flight`` with a stored property of any type, which contains its result. Generic over the whole type of the
/// property, and not over the type of the flight's value, so that deallocating a flight does not have to look up the
/// type `Result<Value, any Error>?`.
///
/// It is Sendable because the task of the flight writes the result before it ends the flight under the lock of the
/// table, and callers read the result only after the flight has ended.
@usableFromInline
final class _FlightStoring<Stored>: _Flight, @unchecked Sendable {
    @usableFromInline var result: Stored

    @inlinable
    init(_ table: _FlightTable, _ key: _ErasedKey?, _ result: Stored) {
        self.result = result
        super.init(table, key)
    }
}
