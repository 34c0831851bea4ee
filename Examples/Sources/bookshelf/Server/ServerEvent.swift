/// The end of a request, as the server saw it.
struct ServerEvent: Sendable, Hashable, CustomStringConvertible {
    enum Outcome: Sendable, Hashable {
        /// An answer went out, with this status.
        case answered(Int)
        /// The request was refused on purpose, with the status 503.
        case refused
        /// The request was handled, and its reply was broken off on purpose.
        case dropped
        /// The client left while it was still sending.
        case abandoned(received: Int)
    }

    /// Method and path, without the query.
    let request: String
    let outcome: Outcome

    var description: String {
        let end =
            switch outcome {
            case .answered(let status): "\(status)"
            case .refused: "503, on purpose"
            case .dropped: "done, and the reply broken off on purpose"
            case .abandoned(let received): "the client left after \(received) bytes"
            }
        return "\(request): \(end)"
    }
}

/// The summary that the server prints at its end.
struct ServerTally: Sendable, CustomStringConvertible {
    private(set) var answered = 0
    private(set) var refused = 0
    private(set) var dropped = 0
    private(set) var abandoned = 0

    mutating func count(_ event: ServerEvent) {
        switch event.outcome {
        case .answered: answered += 1
        case .refused: refused += 1
        case .dropped: dropped += 1
        case .abandoned: abandoned += 1
        }
    }

    var description: String {
        "\(answered) requests answered, \(refused) refused and \(dropped) broken off on purpose, \(abandoned) left by the client"
    }
}
