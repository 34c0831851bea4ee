import Foundation
import TestSupport
import Testing

@testable import TaskControlFleet

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct RunRecordTests {
    private static func run(_ period: String, _ token: Int64 = 1) -> RunRecord.Run {
        RunRecord.Run(period: period, token: Lease.FencingToken(rawValue: token))
    }

    @Test func theLastHundredPeriodsAreRemembered() {
        var record = RunRecord()
        for number in 1...250 {
            record = record.adding(Self.run("\(number)", Int64(number)))
            #expect(record.runs.count == min(number, RunRecord.limit))
            for earlier in [1, number - 100, number - 99, number] where (1...number).contains(earlier) {
                let isKept = earlier > number - RunRecord.limit
                #expect((record.run(of: "\(earlier)")?.token.rawValue == Int64(earlier)) == isKept)
            }
        }
    }

    @Test func periodsAreComparedByteByByte() {
        let record = RunRecord().adding(Self.run("caf\u{E9}"))
        #expect(record.run(of: "caf\u{E9}") != nil)
        #expect(record.run(of: "cafe\u{301}") == nil)
    }

    @Test func aRecordSurvivesItsEncoding() throws {
        let record = RunRecord().adding(Self.run("a/b%")).adding(Self.run("", 7))
        #expect(try JSONDecoder().decode(RunRecord.self, from: JSONEncoder().encode(record)) == record)
    }
}
