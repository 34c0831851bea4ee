import ArgumentParser
import Foundation

/// The command of a worker process, which the director starts.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "worker", shouldDisplay: false)

    @OptionGroup var night: NightOptions
    @OptionGroup var store: StoreOptions
    @Option var name: String

    func run() async throws {
        let director = DirectorConnection()
        await director.open()
        do {
            let worker = Worker(
                name: name,
                store: try store.makeStore(),
                timeToLive: .seconds(night.ttl),
                steps: night.steps,
                stepDuration: .milliseconds(night.step),
                director: director
            )
            try await worker.run()
        } catch {
            try? director.send(.failed("\(error)"))
            throw ExitCode.failure
        }
    }
}
