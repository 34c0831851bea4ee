import ArgumentParser
import Foundation
import TaskControlTesting
import Testing

@testable import outage

#if canImport(FoundationXML)
import FoundationXML
#endif

/// The results of the example, with fewer clients.
@Suite(.timeLimit(.minutes(3)), .enabled(if: Simulation.isSupported))
struct OutageTests {
    @Test func theSameSeedIsTheSameOutputByteByByte() throws {
        let (one, other) = (try Self.first.get(), try Self.play(seed: 1))
        #expect(one.text == other.text && one.svg == other.svg)
        #expect(one.svg != (try Self.play(seed: 2)).svg)
    }

    @Test func thePictureIsWellFormedAndHasALineForEachStrategyInEachPanel() throws {
        let svg = try Self.first.get().svg
        let parser = XMLParser(data: Data(svg.utf8))
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        for strategy in Strategy.allCases {
            #expect(svg.matches(of: try Regex("<polyline class=.curve \(strategy).")).count == 2)
        }
    }

    @Test(arguments: [["--clients", "5"], ["--clients", "many"], ["--seed", "-1"]])
    func aBadArgumentIsRefusedWith64(arguments: [String]) {
        #expect {
            try OutageCommand.parse(arguments)
        } throws: { error in
            OutageCommand.exitCode(for: error) == ExitCode(64)
        }
    }

    @Test func aPictureThatCannotBeWrittenIsSaidBeforeTheWork() throws {
        let command = try OutageCommand.parse(["--svg", "/nowhere/at/all.svg"])
        #expect(throws: ExitCode(EX_IOERR)) { try command.run() }
    }

    @Test(arguments: UInt64(1)...3)
    func withBackoffJitterAndBudgetTheServiceRecoversSoonerThanWithNaiveRetry(seed: UInt64) throws {
        let outage = seed == 1 ? try Self.first.get() : try Self.play(seed: seed)
        let naive = try #require(outage.results.first { $0.strategy == .naive })
        let budget = try #require(outage.results.first { $0.strategy == .budget })
        let recovery = try #require(budget.recovery)
        #expect(recovery < naive.recovery ?? .max)
        #expect(budget.timeline.requests < naive.timeline.requests)
        #expect(budget.timeline.peak < naive.timeline.peak)
        #expect(budget.timeline.successRate > naive.timeline.successRate)
    }

    @Test(arguments: UInt64(1)...3)
    func aBreakerKeepsItsPromises(seed: UInt64) throws {
        let outage = seed == 1 ? try Self.first.get() : try Self.play(seed: seed)
        func result(_ strategy: Strategy) throws -> Outage.Result {
            try #require(outage.results.first { $0.strategy == strategy })
        }
        let (budget, breaker) = (try result(.budget), try result(.breaker))
        func load(_ result: Outage.Result) -> Int { result.timeline.requests(in: outage.scenario.outage) }
        // It spares the service that fails.
        #expect(load(breaker) < load(budget))
        // It does not keep its clients from a service that works again.
        #expect(try #require(breaker.recovery) <= 10)
    }

    @Test func whatIsAnsweredInAnySecondIsWithinTheCapacity() throws {
        let outage = try Self.first.get()
        // A request that comes in a second is answered in that second or while it may wait.
        let service = Service(capacity: outage.scenario.capacity, outage: outage.scenario.outage)
        let most = Int(service.capacity * (1 + service.longestWait / .seconds(1))) + 1
        for result in outage.results { #expect(result.timeline.seconds.allSatisfy { $0.answered <= most }) }
    }

    @Test func allStrategiesMeetTheSameDemandUntilTheOutage() throws {
        let outage = try Self.first.get()
        let before = outage.results.map { $0.timeline.seconds[..<20] }
        #expect(before.allSatisfy { $0 == before[0] })
        #expect(before[0].allSatisfy { $0.answered == $0.requests })
    }

    private static let first = Result { try play(seed: 1) }

    private static func play(seed: UInt64) throws -> Outage {
        try Outage(Scenario(clients: 1_000, seed: seed))
    }
}
