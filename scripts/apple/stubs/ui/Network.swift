// The part of Apple's Network that the articles use, with the signatures of the SDK of iOS 26.

public struct NWPath: Equatable, Sendable {
    public enum Status: Sendable {
        case satisfied, unsatisfied, requiresConnection
    }

    public let status: Status
}

public final class NWPathMonitor: @unchecked Sendable {
    public init() { fatalError() }
}

extension NWPathMonitor: AsyncSequence {
    public typealias Element = NWPath

    public struct Iterator: AsyncIteratorProtocol {
        public mutating func next() async -> NWPath? { fatalError() }
    }

    public func makeAsyncIterator() -> Iterator { fatalError() }
}
