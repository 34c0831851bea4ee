/// The events of an outage, which do not depend on the strategy of the clients.
struct Scenario: Sendable {
    /// Each asks for something now and then, and knows nothing of the others.
    var clients = 10_000
    var seed: UInt64 = 1

    /// From one call of a client to the next, on average.
    let period = Duration.seconds(300)
    let outage = Duration.seconds(20)..<Duration.seconds(80)
    let end = Duration.seconds(200)

    /// How many calls begin in a second, on average.
    var demand: Double { Double(clients) / (period / .seconds(1)) }
    /// The service is not short of it: it can do more than is normally asked for.
    var capacity: Double { demand * 2 }
    /// How long is watched after the outage.
    var watched: Duration { end - outage.upperBound }
}
