/// The events of an outage, which do not depend on the strategy of the clients.
struct Scenario: Sendable {
    /// The number of clients. Each sends a request from time to time, independently of the others.
    var clients = 10_000
    var seed: UInt64 = 1

    /// The average time from one call of a client to its next call.
    let period = Duration.seconds(300)
    let outage = Duration.seconds(20)..<Duration.seconds(80)
    let end = Duration.seconds(200)

    /// The average number of calls that begin in a second.
    var demand: Double { Double(clients) / (period / .seconds(1)) }
    /// The number of requests that the service can answer in a second: more than the normal demand.
    var capacity: Double { demand * 2 }
    /// The time for which the service is observed after the outage.
    var watched: Duration { end - outage.upperBound }
}
