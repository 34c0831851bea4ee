// The declarations of Semaphore that "Moving from Semaphore" uses, without any behavior.

public final class AsyncSemaphore: Sendable {
    public init(value: Int) {}

    public func wait() async {}
    public func waitUnlessCancelled() async throws {}

    @discardableResult
    public func signal() -> Bool { false }
}
