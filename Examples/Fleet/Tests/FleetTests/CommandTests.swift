import ArgumentParser
import Foundation
import Testing

@testable import fleet

@Suite struct CommandTests {
    @Test(arguments: [
        ["--etcd", "localhost:2379"], ["--etcd", "ftp://localhost"], ["--etcd", ""], ["--ttl", "0"], ["--steps", "1"],
        ["--step", "-1"],
    ])
    func badArgumentsAreRefused(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try FleetCommand.parseAsRoot(arguments) }
    }

    /// Runs the program itself, with the kill.
    @Test(.timeLimit(.minutes(5))) func aNightWithAKillKeepsItsClaims() async throws {
        let executable = try #require(Self.executable, "the program is beside the tests")
        let options = try NightOptions.parse(["--steps", "6"])
        let director = Director(options: options, store: try StoreOptions.parse([]), executable: executable)
        let night = try await director.play(limit: .seconds(240))
        // Machines that run tests may be slow: the limit is not what is tested here.
        let failed = night.claims(takeoverLimit: .seconds(240)).filter { !$0.holds }.map(\.text)
        #expect(failed == [], "\(night.timeline.joined(separator: "\n"))")
        #expect(night.tenures.count >= 2)
        #expect(night.tenures.first?.reason == "the process was killed (kill -9)")
    }

    /// The program in the folder of the products, of which the tests are one.
    private static var executable: URL? {
        let places = [URL(filePath: CommandLine.arguments[0])] + Bundle.allBundles.map(\.bundleURL)
        let folders = places.map { $0.deletingLastPathComponent() }
        return (folders + folders.map { $0.deletingLastPathComponent() }).map { $0.appending(path: "fleet") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
