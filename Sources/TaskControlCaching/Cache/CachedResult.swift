public import TaskControl

/// The result of a load, without the type of its value, so that ``_CacheStorage`` is compiled once for all types.
///
/// Sendable: the class and its subclass each have a single stored property, which is a Sendable constant.
@usableFromInline
class _CachedResult: @unchecked Sendable {
    @usableFromInline final let error: (any Error)?

    @inlinable
    init(error: (any Error)?) { self.error = error }
}

/// The value that a load has returned.
///
/// Sendable: the only property that it adds is a Sendable constant.
@usableFromInline
final class _CachedValue<Value: Sendable>: _CachedResult, @unchecked Sendable {
    @usableFromInline let value: Value

    @inlinable
    init(_ value: Value) {
        self.value = value
        super.init(error: nil)
    }
}

/// The three closures of a cache whose code depends on the types of its keys and values. This struct is named for the
/// first of them, which loads the value of a key.
///
/// The closures receive and return values without these types, so that ``_CacheStorage``, which calls them, is compiled
/// once for all types.
@usableFromInline
struct _CacheLoader: Sendable {
    /// The closure that calls the client's function to load the value of a key, and returns the value or the error.
    @usableFromInline let load: @Sendable (_ErasedKey) async -> _CachedResult
    /// The closure that returns the time for which a result is fresh, where `nil` stands for the time of the policy.
    /// The closure itself is `nil` if the time of the policy applies to all results.
    @usableFromInline let lifetime: (@Sendable (_CachedResult) -> Duration?)?
    /// The closure that creates the error of a load that requests its own key.
    @usableFromInline let reentrancyError: @Sendable (_ErasedKey) -> SingleFlightReentrancyError

    @inlinable
    init(
        load: @escaping @Sendable (_ErasedKey) async -> _CachedResult,
        lifetime: (@Sendable (_CachedResult) -> Duration?)?,
        reentrancyError: @escaping @Sendable (_ErasedKey) -> SingleFlightReentrancyError
    ) {
        self.load = load
        self.lifetime = lifetime
        self.reentrancyError = reentrancyError
    }
}

/// The key of a flight: the key of the cache, and the serial number of the load or written value that the flight comes
/// after.
struct LoadKey: Hashable, Sendable, CustomStringConvertible {
    let key: _ErasedKey
    let after: UInt64

    var description: String { key.text ?? "" }
}
