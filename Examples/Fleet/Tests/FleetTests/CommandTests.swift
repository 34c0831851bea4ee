import ArgumentParser
import Testing

@testable import fleet

@Suite struct CommandTests {
    @Test func theCommandNeedsNoArguments() throws {
        _ = try FleetCommand.parse([])
    }
}
