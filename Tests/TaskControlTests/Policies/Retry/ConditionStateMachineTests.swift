import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct ConditionStateMachineTests {
    /// All sequences of reports: an attempt is held up until the last report says otherwise, and only a change ends a delay.
    @Test func everySequenceOfReports() {
        for length in 0...8 {
            for bits in 0..<(1 << length) {
                let reports = (0..<length).map { bits >> $0 & 1 == 1 }
                var machine = ConditionStateMachine()
                #expect(machine.isHolding, "nothing is known")
                for (index, report) in reports.enumerated() {
                    let endsDelay = machine.report(report)
                    #expect(endsDelay == (report && index > 0 && !reports[index - 1]))
                    #expect(machine.isHolding == !report)
                }
                let endsDelay = machine.report(nil)
                #expect(!endsDelay && !machine.isHolding)
            }
        }
    }
}
