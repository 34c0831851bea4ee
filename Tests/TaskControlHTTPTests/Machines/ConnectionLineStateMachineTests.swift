import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlHTTP

@Suite(.tags(.machine))
struct ConnectionLineStateMachineTests {
    @Test func asManyExchangesAsThereAreConnectionsAreConnected() {
        var line = ConnectionLineStateMachine(limit: 2)
        let numbers = (0..<4).map { _ in line.enter() }
        let wereConnected = numbers.reversed().map { line.leave($0) }
        #expect(wereConnected == [false, false, true, true] && line.isEmpty)
    }

    @Test func theFirstThatWaitsGetsTheConnectionOfOneThatLeaves() {
        var line = ConnectionLineStateMachine(limit: 1)
        let numbers = (0..<4).map { _ in line.enter() }
        let wereConnected = [0, 2, 1, 3].map { line.leave(numbers[$0]) }
        #expect(wereConnected == [true, false, true, true] && line.isEmpty)
        let next = line.enter()
        let isConnected = line.leave(next)
        #expect(isConnected)
    }

    /// All sequences of eight events, compared with a list in which the first two are connected.
    @Test func aLineBehavesLikeAList() {
        func check(_ line: ConnectionLineStateMachine, _ open: [(number: Int, wasConnected: Bool)], depth: Int) {
            #expect(line.isEmpty == open.isEmpty)
            guard depth > 0 else { return }
            var entered = line
            let number = entered.enter()
            check(entered, open + [(number, open.count < 2)], depth: depth - 1)
            for index in open.indices {
                var (left, rest) = (line, open)
                let place = rest.remove(at: index)
                let wasConnected = left.leave(place.number)
                #expect(wasConnected == place.wasConnected)
                for index in rest.indices.prefix(2) { rest[index].wasConnected = true }
                check(left, rest, depth: depth - 1)
            }
        }
        check(ConnectionLineStateMachine(limit: 2), [], depth: 7)
    }
}
