// The declarations of the Composable Architecture 1 that "With the Composable Architecture" uses, without any behavior. A parameter that the articles
// do not use is left out.

/// The clock of swift-clocks, which the Composable Architecture exports.
public final class TestClock: Sendable {
    public init() {}
}

public protocol DependencyKey {
    associatedtype Value: Sendable = Self

    static var liveValue: Value { get }
}

@propertyWrapper
public struct Dependency<Value: Sendable>: Sendable {
    public let wrappedValue: Value

    public init<Key: DependencyKey>(_ key: Key.Type) where Key.Value == Value { wrappedValue = Key.liveValue }
}

public struct Send<Action>: Sendable {
    @MainActor
    public func callAsFunction(_ action: Action) {}
}

public struct Effect<Action>: Sendable {
    public static var none: Self { Self() }

    public static func run(operation: @escaping @Sendable (_ send: Send<Action>) async throws -> Void) -> Self { Self() }

    public func cancellable(id: some Hashable & Sendable, cancelInFlight: Bool = false) -> Self { self }
}

public protocol Reducer<State, Action> {
    associatedtype State
    associatedtype Action

    func reduce(into state: inout State, action: Action) -> Effect<Action>
}
