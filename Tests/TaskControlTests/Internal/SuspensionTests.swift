import TaskControlTesting
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct SuspensionTests {
    private typealias Waiter = UnsafeContinuation<WaitOutcome, Never>

    @Test func aWaiterWithAnOutcomeDoesNotWait() async {
        let outcomes = [
            await suspend { _ in WaitOutcome.reached },
            await suspend { _ in
                WaitOutcome.reached
            } onCancel: {
            },
            await suspend { _ in
                WaitOutcome.reached
            } raising: { _ in
            },
            await suspend { _ in
                WaitOutcome.reached
            } onCancel: {
            } raising: { _ in
            },
        ]
        #expect(outcomes == [.reached, .reached, .reached, .reached])
    }

    @Test func aParkedWaiterIsResumedWithItsOutcome() async {
        let outcome: WaitOutcome = await suspend { (waiter: Waiter) in
            Task { waiter.resume(returning: .left) }
            return nil
        }
        #expect(outcome == .left)
    }

    @Test(arguments: [false, true])
    func aCancelledWaiterLeaves(isCancelledBefore: Bool) async {
        let (parking, isParked) = (Locked(Parking.expected), Gate())
        let start = Gate()
        let task = Task {
            if isCancelledBefore { await start.waitIgnoringCancellation() }
            return await suspend { (waiter: Waiter) in
                let outcome = parking.withLock { $0.park(Word(waiter)) }
                isParked.open()
                return outcome
            } onCancel: {
                parking.withLock { $0.settle(with: .left) }?.resume(returning: .left)
            } raising: { _ in
            }
        }
        if isCancelledBefore {
            task.cancel()
            start.open()
        } else {
            await isParked.waitIgnoringCancellation()
            task.cancel()
        }
        #expect(await task.value == .left)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func theCurrentPriorityAndEveryRiseArePassedOn() async {
        let (raised, isHigh, parking) = (
            OrderRecorder<TaskPriority>(), Gate(), Locked(Parking.expected)
        )
        let isParked = Gate()
        let task = Task(priority: .background) {
            await suspend { (waiter: Waiter) in
                defer { isParked.open() }
                return parking.withLock { $0.park(Word(waiter)) }
            } raising: { priority in
                raised.record(priority)
                if priority == .high { isHigh.open() }
            }
        }
        await isParked.waitIgnoringCancellation()
        task.escalatePriority(to: .high)
        await isHigh.waitIgnoringCancellation()
        parking.withLock { $0.settle(with: .reached) }?.resume(returning: .reached)
        #expect(await task.value == .reached)
        #expect(raised.events == [.background, .high])
    }
}
