import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlSupervision

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct SharedConnectionStateMachineTests {
    /// Every sequence of events agrees with the model; sequences that lead to the same state continue as one.
    @Test func everyShortSequenceAgreesWithTheModel() {
        let steps = SharedConnectionDriver().playEverySequence(upTo: fullSize(9, inDebug: 7)) { $0.events }
        #expect(steps > 300)
    }

    @Test(arguments: Schedules.seeds(400, inDebug: 40))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = SharedConnectionDriver()
        for _ in 0..<200 {
            guard let event = driver.events.randomElement(using: &random) else { break }
            driver.play(event)
        }
    }
}

private struct SharedConnectionDriver: MachineDriver {
    enum Event: Hashable {
        case join
        case leave(UInt64)
        case connected, lost, ended
        case wait
        /// The user waits, or one that has left or whose work has ended.
        case userWaits(UInt64)
        case stopWaiting(Int)
    }

    private var machine = SharedConnectionStateMachine()
    /// The users that the work serves, and those that wait for the next one.
    private var served: Set<UInt64> = []
    private var next: Set<UInt64> = []
    private var count: UInt64 = 0
    private var isWorking = false
    private var isConnected = false
    private var waiters: [(id: WaiterTable.ID, number: Int)] = []
    private var waiterCount = 0

    var signature: Int {
        var hasher = Hasher()
        hasher.combine([served.count, next.count, waiters.count])
        hasher.combine([isWorking, isConnected])
        return hasher.finalize()
    }

    private var isServing: Bool { isWorking && !served.isEmpty }

    var events: [Event] {
        var events: [Event] = [.connected, .lost, .wait]
        if served.count + next.count < 4 { events.append(.join) }
        if isWorking { events.append(.ended) }
        events += (served.union(next)).sorted().map { .leave($0) }
        // A user that has left before.
        events.append(.leave(count + 1))
        events += (served.union(next)).sorted().map { .userWaits($0) }
        events.append(.userWaits(count + 1))
        events += waiters.map { .stopWaiting($0.number) }
        return events
    }

    private mutating func wakeAll() -> [Int] {
        defer { waiters = [] }
        return waiters.map(\.number)
    }

    mutating func play(_ event: Event) {
        switch event {
        case .join:
            count += 1
            let (user, begins) = machine.join()
            #expect(user == count)
            #expect(begins == !isWorking, "two works never overlap")
            if begins || isServing { served.insert(user) } else { next.insert(user) }
            isWorking = true
        case .leave(let user):
            let isLast = served == [user]
            #expect(machine.leave(user) == isLast)
            if isLast { isConnected = false }
            served.remove(user)
            next.remove(user)
        case .connected:
            let woken = machine.connected().map(\.number)
            #expect(woken == (isServing ? wakeAll() : []))
            if isServing { isConnected = true }
        case .lost:
            machine.lost()
            isConnected = false
        case .ended: end()
        case .wait: wait(nil)
        case .userWaits(let user): wait(user)
        case .stopWaiting(let number):
            guard let index = waiters.firstIndex(where: { $0.number == number }) else { return }
            #expect(machine.leave(waiters.remove(at: index).id)?.number == number)
        }
        #expect(machine.userCount == served.count + next.count)
        #expect(machine.isConnected == isConnected)
        #expect(machine.phase == (isServing ? .running : isWorking ? .ending : .idle))
    }

    private mutating func wait(_ user: UInt64?) {
        let isKnown = user.map { served.contains($0) || next.contains($0) } ?? true
        switch machine.enroll(user) {
        case .ended: #expect(!isKnown)
        case .reached: #expect(isKnown && isConnected)
        case .waits(let id):
            #expect(isKnown && !isConnected)
            waiterCount += 1
            #expect(machine.park(id, Word(waiterCount)) == nil)
            waiters.append((id, waiterCount))
        }
    }

    private mutating func end() {
        let (users, woken, begins) = machine.ended()
        if isServing {
            // The work has ended by itself: its users learn of it.
            #expect(users == served && woken.map(\.number) == wakeAll() && !begins)
            (served, isWorking) = ([], false)
        } else {
            #expect(users == [] && woken == [] && begins == !next.isEmpty)
            (served, next, isWorking) = (next, [], begins)
        }
        isConnected = false
    }
}
