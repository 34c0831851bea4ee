// The declaration of swift-log that "Moving from groups of services" uses, without any behavior.

public struct Logger: Sendable {
    public init(label: String) {}
}
