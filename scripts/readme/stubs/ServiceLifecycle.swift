// The declarations of swift-service-lifecycle that "Moving from groups of services" uses, without any behavior. A parameter that the article does not
// use is left out.
public import Logging

public protocol Service: Sendable {
    func run() async throws
}

public struct UnixSignal: Sendable {
    public static let sigterm = Self()
    public static let sigint = Self()
}

public func gracefulShutdown() async throws {}

public final class ServiceGroup: Sendable {
    public init(services: [any Service], gracefulShutdownSignals: [UnixSignal], logger: Logger) {}

    public func run() async throws {}
}
