import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct WaiterTableTests {
    @Test func aWaiterThatLeavesBeforeItParksIsToldWhenItParks() {
        var table = WaiterTable()
        let id = table.enroll()
        #expect(table.leave(id, with: .left) == nil)
        #expect(table.park(id, 1) == .left)
        #expect(table.count == 0)
    }

    @Test func aWaiterThatParksAfterTheEventIsToldWhenItParks() {
        var table = WaiterTable()
        let id = table.enroll()
        #expect(table.wakeAll(with: .reached).isEmpty)
        #expect(table.leave(id, with: .left) == nil, "the first word counts")
        #expect(table.park(id, 1) == .reached)
        #expect(table.count == 0)
    }

    @Test func everybodyWhoIsParkedIsHandedOutOnceInTheOrderOfEnrolling() {
        var table = WaiterTable()
        let ids = (0..<20).map { _ in table.enroll() }
        for (number, id) in ids.enumerated().reversed() { #expect(table.park(id, Word(number)) == nil) }
        #expect(table.leave(ids[3], with: .left) == 3)
        #expect(table.wakeAll(with: .reached).map(\.number) == Array(0..<20).filter { $0 != 3 })
        #expect(ids.allSatisfy { table.leave($0, with: .left) == nil })
        #expect(table.count == 0)
    }

    @Test func theFirstIsWokenAloneInTheOrderOfEnrolling() {
        var table = WaiterTable()
        let ids = (0..<4).map { _ in table.enroll() }
        for number in [0, 3] { #expect(table.park(ids[number], Word(number)) == nil) }
        #expect(table.leave(ids[1], with: .left) == nil)
        #expect(table.wakeFirst(with: .reached) == 0)
        #expect(table.hasWaiting)
        #expect(table.wakeFirst(with: .reached) == nil, "it has not parked yet")
        #expect(table.park(ids[2], 2) == .reached)
        #expect(table.wakeFirst(with: .reached) == 3)
        #expect(!table.hasWaiting && table.count == 1, "one has left and not parked yet")
    }
}
