// The part of Apple's os overlay that the package uses, with the signatures of the SDK.
@_exported import Darwin

@available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, *)
@frozen public struct OSLogPrivacy: Sendable {
    public static var `public`: OSLogPrivacy { fatalError() }
    public static var `private`: OSLogPrivacy { fatalError() }
    public static var auto: OSLogPrivacy { fatalError() }
}

@available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, *)
public struct OSLogStringAlignment {
    public static var none: OSLogStringAlignment { fatalError() }
}

@available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, *)
@frozen public struct OSLogInterpolation: StringInterpolationProtocol {
    public init(literalCapacity: Int, interpolationCount: Int) { fatalError() }
    public mutating func appendLiteral(_ literal: String) { fatalError() }
    public mutating func appendInterpolation(
        _ argumentString: @autoclosure @escaping () -> String,
        align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) { fatalError() }
}

@available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, *)
@frozen public struct OSLogMessage: ExpressibleByStringInterpolation, ExpressibleByStringLiteral {
    public init(stringInterpolation: OSLogInterpolation) { fatalError() }
    public init(stringLiteral value: String) { fatalError() }
}

@available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, *)
@frozen public struct Logger: @unchecked Sendable {
    public init(subsystem: String, category: String) { fatalError() }
    public init() { fatalError() }
    public func debug(_ message: OSLogMessage) { fatalError() }
    public func info(_ message: OSLogMessage) { fatalError() }
    public func notice(_ message: OSLogMessage) { fatalError() }
    public func warning(_ message: OSLogMessage) { fatalError() }
    public func error(_ message: OSLogMessage) { fatalError() }
    public func fault(_ message: OSLogMessage) { fatalError() }
}
