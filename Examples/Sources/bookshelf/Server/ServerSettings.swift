/// The settings of the server.
struct ServerSettings: Sendable {
    /// The port; 0 for any free port.
    var port: UInt16 = 0
    var books = ClassicBooks.all
    var account = Account.standard
    var tokenLifetime: Duration = .seconds(60)
    var faults = FaultPlan.none
    /// The interval at which clients that wait for changes receive a sign of life.
    var heartbeat: Duration = .seconds(5)
    var clock: any Clock<Duration> = ContinuousClock()
    /// The closure that is called before each request is handled, and after each piece of a cover that arrives. The client waits until the closure
    /// returns: a sleep makes the server slow, and a test may hold it.
    var pace: @Sendable (Pace) async throws -> Void = { _ in }
    /// The closure that receives the end of each request.
    var onEvent: @Sendable (ServerEvent) -> Void = { _ in }

    static let largestCover = 256 << 20

    enum Pace: Sendable, Hashable {
        case request(String)
        case piece(received: Int)
    }
}
