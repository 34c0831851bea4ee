/// One request, as the server sees it.
struct Visit: Sendable {
    /// The phase of a request. The last three phases are final.
    enum Phase: Sendable {
        /// The server has the request and keeps its answer back.
        case held
        /// The answer is on its way into the connection.
        case answering
        /// The connection has taken the whole answer, be it a refusal.
        case completed
        /// The client closed the connection before it had the answer.
        case gone
        /// The server closed the connection in the middle of the answer.
        case brokenOff
    }

    let subject: String
    /// The edition of the server when the request came; see ``Stage/publish()``.
    let edition: Int
    /// The token that the client has sent.
    let token: Int?
    let time: ContinuousClock.Instant
    var phase = Phase.held
    var mayBeAnswered = false
    var reply = Reply.answer

    var isInFlight: Bool { phase == .held || phase == .answering }
    var isRefused: Bool { reply != .answer && reply != .breakOff }
}
