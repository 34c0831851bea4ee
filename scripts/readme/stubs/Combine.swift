// The declarations of Combine that "Moving from Combine" uses, without any behavior, so that its blocks are compiled on Linux. A parameter that the
// article does not use is left out.
public import TaskControl

public typealias AnyCancellable = TaskControl.AnyCancellable

public protocol Cancellable {
    func cancel()
}

public struct AnyPublisher<Output, Failure: Error> {
    public init() {}

    public func receive(on scheduler: some Any) -> Self { self }
    public func debounce(for interval: Duration, scheduler: some Any) -> Self { self }
    public func removeDuplicates() -> Self where Output: Equatable { self }
    public func map<Result>(_ transform: @escaping (Output) -> Result) -> AnyPublisher<Result, Failure> { .init() }

    public func switchToLatest<Inner>() -> AnyPublisher<Inner, Failure> where Output == AnyPublisher<Inner, Failure> {
        .init()
    }

    public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable where Failure == Never {
        AnyCancellable {}
    }
}

@propertyWrapper
public struct Published<Value> {
    public var wrappedValue: Value

    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    public var projectedValue: AnyPublisher<Value, Never> { .init() }
}
