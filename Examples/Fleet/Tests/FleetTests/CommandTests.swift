import ArgumentParser
import Foundation
import Testing

@testable import fleet

@Suite struct CommandTests {
    @Test func theCommandNeedsNoArguments() throws {
        let command = try #require(try FleetCommand.parseAsRoot([]) as? NightCommand)
        #expect(command.store.etcd == nil)
        #expect(command.night.ttl == 2)
    }

    @Test func aWorkerHasTheStoreOfItsDirector() throws {
        let folder = URL(filePath: "/tmp/night")
        for arguments in [[], ["--etcd", "http://one:2379,https://two:2379"]] {
            let command = try #require(try FleetCommand.parseAsRoot(arguments) as? NightCommand)
            let worker = try #require(
                try FleetCommand.parseAsRoot(
                    ["worker", "--name", "B"] + command.night.arguments + command.store.arguments(in: folder)
                ) as? WorkerCommand
            )
            #expect(worker.store.etcd == command.store.etcd)
            if arguments.isEmpty {
                #expect(worker.store.file == "/tmp/night/fleet.sqlite")
            } else {
                #expect(worker.store.namespace == command.store.namespace)
                #expect(try StoreOptions.endpoints(worker.store.etcd ?? "").count == 2)
            }
        }
    }

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
        let options = try NightOptions.parse(["--steps", "4", "--step", "10"])
        let director = Director(options: options, store: try StoreOptions.parse([]), executable: executable)
        let night = try await director.play(limit: .seconds(240))
        // Machines that run tests may be slow: the limit is not what is tested here.
        let failed = night.claims(takeoverLimit: .seconds(240)).filter { !$0.holds }
        #expect(failed == [], "\(night.timeline.joined(separator: "\n"))")
        #expect(night.tenures.count == 3)
        #expect(night.tenures.first?.end?.reason == .killed)
    }

    /// The program in the folder of the products, of which the tests are one.
    private static var executable: URL? {
        let start = Bundle.main.executableURL?.deletingLastPathComponent()
        let bundles =
            [start, URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()]
            + Bundle.allBundles.map(\.bundleURL)
        var folders = bundles.compactMap(\.self)
        folders += folders.map { $0.deletingLastPathComponent() }
        return folders.map { $0.appending(path: "fleet") }.first {
            FileManager.default.isExecutableFile(atPath: $0.path)
        }
    }
}
