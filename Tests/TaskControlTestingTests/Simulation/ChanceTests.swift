#if os(Linux)
import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// The system's sources of random numbers belong to the seed.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.capabilities == .all), .tags(.schedules))
struct ChanceTests {
    private static func draws(_ seed: UInt64, _ draw: @escaping @Sendable () -> String) throws -> [String] {
        let drawn = OrderRecorder<String>()
        try simulate(seed: seed) { _ in
            for _ in 0..<3 {
                drawn.record(draw())
                await Task.yield()
            }
        }
        return drawn.events
    }

    private static func bytes(_ fill: (UnsafeMutableRawPointer, Int) -> Void) -> String {
        var bytes = [UInt8](repeating: 0, count: 19)
        bytes.withUnsafeMutableBytes { fill($0.baseAddress!, $0.count) }
        return "\(bytes)"
    }

    private static func readRandomFile() -> String {
        let file = open("/dev/urandom", O_RDONLY)
        defer { close(file) }
        return bytes { _ = read(file, $0, $1) }
    }

    private static let sources: [(name: String, draw: @Sendable () -> String)] = [
        ("Int.random", { "\(Int.random(in: 0..<1_000_000))" }),
        ("shuffled", { "\((0..<30).shuffled())" }),
        ("UUID", { UUID().uuidString }),
        ("getentropy", { bytes { _ = getentropy($0, $1) } }),
        ("/dev/urandom", { readRandomFile() }),
        ("rand", { "\(rand())" }),
        ("random", { "\(Glibc.random())" }),
        ("drand48", { "\(drand48())" }),
    ]

    @Test func theSeedDecidesTheNumbersOfTheSystem() throws {
        for (name, draw) in Self.sources {
            let first = try Self.draws(3, draw)
            #expect(try Self.draws(3, draw) == first, "\(name)")
            #expect(try Self.draws(4, draw) != first, "\(name)")
            #expect(Set(first).count == 3, "\(name)")
        }
    }

    @Test func outsideASimulationTheyAreRandom() {
        #expect(UUID() != UUID())
        #expect((0..<30).shuffled() != (0..<30).shuffled())
        #expect(Self.readRandomFile() != Self.readRandomFile())
    }

    @Test func aProgramThatDependsOnChanceIsReplayed() throws {
        let report = try simulate(seeds: 0..<50, checksDeterminism: true) { _ in
            for _ in 0..<Int.random(in: 0..<20) { await Task.yield() }
        }
        #expect(report.distinctScheduleCount > 5)
    }

    #if SUBPROCESSES
    private static func printHash() { System.writeToStandardError("hash \("a text".hashValue) \(Set(0..<20))") }

    @Test(.oneProcessAtATime) func theOrderOfASetIsTheSameInEachProcess() async {
        let first = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            ChanceTests.printHash()
        }
        let second = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            ChanceTests.printHash()
        }
        #expect(text(first).contains("hash ") && text(first) == text(second))
    }
    #endif
}
#endif
