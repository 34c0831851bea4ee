import ArgumentParser

/// The job and the lease.
struct NightOptions: ParsableArguments {
    @Option(help: "The duration of the lease in seconds. etcd has a minimum of 2 seconds by default.")
    var ttl = 2

    @Option(help: "The number of steps of the job. The worker that runs it is killed in the middle.")
    var steps = 8

    @Option(help: ArgumentHelp("The duration of a step in milliseconds.", valueName: "milliseconds"))
    var step = 200

    func validate() throws {
        guard (1...60).contains(ttl) else { throw ValidationError("Give --ttl a number from 1 to 60.") }
        guard (2...1_000).contains(steps) else { throw ValidationError("Give --steps a number from 2 to 1000.") }
        guard (0...10_000).contains(step) else { throw ValidationError("Give --step a number from 0 to 10000.") }
    }

    var arguments: [String] { ["--ttl", "\(ttl)", "--steps", "\(steps)", "--step", "\(step)"] }
}
