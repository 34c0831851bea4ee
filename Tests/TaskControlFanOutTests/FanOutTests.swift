import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlFanOut

@Suite(.timeLimit(.minutes(15)))
struct FanOutTests {
    @TaskLocal private static var mark = 0

    private static let otherFailed = CancellationCause.requested(reason: "another operation has failed")

    // MARK: Sequences

    @Test func theArrayIsInTheOrderOfTheSource() async {
        let first = Gate()
        let results = await (0..<100).concurrentMap(limit: 3) { number in
            // The first operation ends last.
            if number == 0 { await first.waitIgnoringCancellation() }
            if number == 99 { first.open() }
            return number * 2
        }
        #expect(results == (0..<100).map { $0 * 2 })
    }

    @Test func theArrayCanBeInTheOrderOfCompletion() async {
        let first = Gate()
        let results = await (0..<10).concurrentMap(limit: 2, order: .completion) { number in
            if number == 0 { await first.waitIgnoringCancellation() }
            if number == 9 { first.open() }
            return number
        }
        #expect(results.prefix(8) == [1, 2, 3, 4, 5, 6, 7, 8] && Set(results) == Set(0..<10))
    }

    @Test(arguments: [
        (limit: 4, expected: 4), (limit: 0, expected: 1), (limit: -3, expected: 1), (limit: .max, expected: 20),
    ])
    func asManyOperationsRunAsTheLimitSays(limit: Int, expected: Int) async throws {
        let (begun, gate) = (OrderRecorder<Int>(), Gate())
        let call = Task {
            try await (0..<20).concurrentForEach(limit: limit) { number in
                begun.record(number)
                try await gate.wait()
            }
        }
        try await begun.waitForEvents(count: expected)
        #expect(begun.count == expected)
        gate.open()
        try await call.value
        #expect(begun.count == 20)
    }

    @Test func aLazySequenceIsNotAheadOfTheWork() async throws {
        let (pulled, begun, gate) = (OrderRecorder<Int>(), OrderRecorder<Int>(), Gate())
        let numbers = sequence(state: 0) { next -> Int? in
            defer { next += 1 }
            pulled.record(next)
            return next < 10 ? next : nil
        }
        let pulledFirst = try await withThrowingTaskGroup(of: Void.self) { group in
            let box = UncheckedBox(numbers)
            group.addTask {
                try await box.value.concurrentForEach(limit: 2) { number in
                    begun.record(number)
                    try await gate.wait()
                }
            }
            try await begun.waitForEvents(count: 2)
            let count = pulled.count
            gate.open()
            try await group.waitForAll()
            return count
        }
        #expect(pulledFirst == 2 && pulled.count == 11)
    }

    @Test func theFirstErrorCancelsTheOthersAndIsThrownAfterTheirEnd() async throws {
        let (causes, begun) = (OrderRecorder<CancellationCause?>(), OrderRecorder<Int>())
        await #expect(throws: MarkedError("2")) {
            try await (0..<10).concurrentMap(limit: 3) { number in
                begun.record(number)
                if number == 2 { throw MarkedError("2") }
                defer { causes.record(Task.cancellationCause) }
                try await Gate().wait()
                return number
            }
        }
        #expect(begun.count <= 3, "no other operation begins")
        #expect(causes.events.allSatisfy { $0 == Self.otherFailed } && causes.count == begun.count - 1)
    }

    @Test func aCallerThatIsCancelledAfterAnErrorReceivesItsCancellation() async throws {
        let (hasFailed, end) = (Gate(), Gate())
        let caller = Task {
            try await (0..<2).concurrentForEach(limit: 2) { number in
                if number == 1 { throw MarkedError("1") }
                // Ends with the failure of the other operation, and then ignores its cancellation.
                try? await Gate().wait()
                hasFailed.open()
                await Task.detached { try? await end.wait() }.value
            }
        }
        try await hasFailed.wait()
        caller.cancel()
        end.open()
        await #expect(throws: CancellationError.self) { try await caller.value }
    }

    @Test func anErrorEndsASequenceThatHasNoEnd() async {
        await #expect(throws: MarkedError("5")) {
            try await (0..<Int.max).concurrentMap(limit: 2) { number in
                if number == 5 { throw MarkedError("5") }
            }
        }
    }

    @Test func errorsOfOneTypeAreThrownWithTheirType() async {
        do throws(MarkedError) {
            _ = try await [1, 2].concurrentMap(limit: 1) { (number: Int) async throws(MarkedError) -> Int in
                throw MarkedError("\(number)")
            }
            Issue.record("an operation has failed")
        } catch {
            #expect(error.mark == "1")
        }
    }

    @Test func aCancelledCallerBeginsNoOtherOperation() async throws {
        let (begun, causes) = (OrderRecorder<Int>(), OrderRecorder<CancellationCause?>())
        let bag = TaskBag()
        bag.addTask {
            await #expect(throws: CancellationError.self) {
                try await (0..<10).concurrentForEach(limit: 2) { number in
                    begun.record(number)
                    defer { causes.record(Task.cancellationCause) }
                    try await Gate().wait()
                }
            }
        }
        try await begun.waitForEvents(count: 2)
        bag.cancelAll(because: "signed out")
        try await bag.drain()
        #expect(begun.count == 2)
        #expect(causes.events == [.requested(reason: "signed out"), .requested(reason: "signed out")])
    }

    @Test func operationsThatDoNotThrowAllRunAfterACancellation() async {
        let count = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await (0..<5).concurrentMap(limit: 2) { _ in Task.isCancelled }.count { $0 }
        }.value
        #expect(count == 5)
    }

    /// Operations follow one another in one task, unless it was cancelled.
    @Test func anOperationThatCancelsItsTaskDoesNotCancelTheNext() async {
        let wereCancelled = await (0..<4).concurrentMap(limit: 1) { number in
            let wasCancelled = Task.isCancelled
            if number != 1 { withUnsafeCurrentTask { $0?.cancel() } }
            return wasCancelled
        }
        #expect(wereCancelled == [false, false, false, false])
    }

    @Test func anEmptySourceIsAnEmptyArray() async {
        let results = await [Int]().concurrentMap(limit: 2) { $0 }
        #expect(results.isEmpty)
    }

    @Test @MainActor func theConsumerRunsInTheIsolationOfTheCaller() async throws {
        var taken: [Int] = []
        try await (0..<10).concurrentMap(limit: 3) { number in
            number
        } forEach: { number in
            MainActor.assertIsolated()
            taken.append(number)
        }
        #expect(taken == Array(0..<10))
    }

    @Test func operationsInheritPriorityAndTaskLocals() async {
        await Self.$mark.withValue(7) {
            let marks = await Task(priority: .low) {
                await (0..<3).concurrentMap(limit: 3) { _ in (Self.mark, Task.basePriority) }
            }.value
            #expect(marks.allSatisfy { $0.0 == 7 && $0.1 == .low })
        }
    }

    // MARK: Consumers

    /// Results that wait behind a slow operation keep their places, so no other operation begins.
    @Test func resultsBehindASlowHeadAreCounted() async throws {
        let (begun, ended, head) = (OrderRecorder<Int>(), OrderRecorder<Int>(), Gate())
        let taken = OrderRecorder<Int>()
        let call = Task {
            try await (0..<20).concurrentMap(limit: 4) { number in
                begun.record(number)
                if number == 0 { try await head.wait() }
                ended.record(number)
                return number
            } forEach: {
                taken.record($0)
            }
        }
        try await ended.waitForEvents(count: 3)
        #expect(begun.count == 4 && taken.count == 0)
        head.open()
        try await call.value
        #expect(taken.events == Array(0..<20))
    }

    @Test func aSlowConsumerHoldsTheSourceBack() async throws {
        let (source, first, gate) = (FanOutSource(count: 20, errorAt: nil), Gate(), Gate())
        let ended = OrderRecorder<Int>()
        let call = Task {
            try await source.concurrentMap(limit: 3) { number in
                ended.record(number)
                return number
            } forEach: { number in
                if number == 0 {
                    first.open()
                    try await gate.wait()
                }
            }
        }
        try await first.wait()
        try await ended.waitForEvents(count: 4)
        #expect(source.pulled == 4, "one result is with the consumer, three wait")
        gate.open()
        try await call.value
        #expect(source.pulled == 20)
    }

    /// The error reaches the source although that has no element, and the operations although the consumer is at work.
    @Test func anErrorEndsAWaitForTheSource() async throws {
        let (elements, continuation) = AsyncStream<Int>.makeStream()
        continuation.yield(1)
        await #expect(throws: MarkedError("1")) {
            try await elements.concurrentForEach(limit: 3) { number in throw MarkedError("\(number)") }
        }
        withExtendedLifetime(continuation) {}
    }

    @Test func anErrorWhileTheConsumerWorksCancelsTheOthersAtOnce() async throws {
        let (consuming, second, cancelled) = (Gate(), Gate(), Gate())
        let causes = OrderRecorder<CancellationCause?>()
        await #expect(throws: MarkedError("1")) {
            try await (0..<3).concurrentMap(limit: 3, order: .completion) { number in
                if number == 0 { return }
                if number == 1 {
                    await consuming.waitIgnoringCancellation()
                    await second.waitIgnoringCancellation()
                    throw MarkedError("1")
                }
                second.open()
                try? await Gate().wait()
                causes.record(Task.cancellationCause)
                cancelled.open()
            } forEach: { _ in
                consuming.open()
                try await cancelled.wait()
            }
        }
        #expect(causes.events == [Self.otherFailed])
    }

    @Test func anErrorOfTheConsumerEndsTheWork() async throws {
        let causes = OrderRecorder<CancellationCause?>()
        await #expect(throws: MarkedError("consumer")) {
            try await (0..<10).concurrentMap(limit: 2) { number in
                if number == 0 { return }
                defer { causes.record(Task.cancellationCause) }
                try await Gate().wait()
            } forEach: { _ in
                throw MarkedError("consumer")
            }
        }
        #expect(causes.events.allSatisfy { $0 == Self.otherFailed })
    }

    @Test func anErrorOfTheSourceEndsTheWork() async throws {
        let source = FanOutSource(count: 10, errorAt: 2)
        await #expect(throws: MarkedError("source")) {
            try await source.concurrentForEach(limit: 4) { _ in try await Gate().wait() }
        }
    }

    @Test func aStreamThatEndsSinceTheCallerIsCancelledIsACancellation() async throws {
        let (elements, continuation) = AsyncStream<Int>.makeStream()
        let taken = Gate()
        let call = Task {
            try await elements.concurrentMap(limit: 2) {
                $0
            } forEach: { _ in
                taken.open()
            }
        }
        continuation.yield(1)
        try await taken.wait()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    // MARK: Asynchronous sequences

    @Test func theSequenceIsInOrderAndCanBeIteratedAgain() async throws {
        let numbers = AsyncNumbers(count: 50).concurrentMap(limit: 4) { $0 * 2 }
        for _ in 0..<2 {
            var taken: [Int] = []
            for try await number in numbers { taken.append(number) }
            #expect(taken == (0..<50).map { $0 * 2 })
        }
    }

    @Test func anOperationOfAStreamThatCancelsItsTaskDoesNotCancelTheNext() async throws {
        var wereCancelled: [Bool] = []
        try await AsyncNumbers(count: 4).concurrentMap(limit: 1) { number in
            let wasCancelled = Task.isCancelled
            if number != 1 { withUnsafeCurrentTask { $0?.cancel() } }
            return wasCancelled
        } forEach: {
            wereCancelled.append($0)
        }
        #expect(wereCancelled == [false, false, false, false])
    }

    @Test func afterTheEndAndAfterAnErrorTheIteratorReturnsNil() async throws {
        var numbers = AsyncNumbers(count: 1).concurrentMap(limit: 4) { $0 }.makeAsyncIterator()
        #expect(try await numbers.next() == 0)
        #expect(try await numbers.next() == nil)
        #expect(try await numbers.next() == nil)
        var failing = AsyncNumbers(count: 1).concurrentMap(limit: 4) { _ -> Int in throw MarkedError("1") }
            .makeAsyncIterator()
        await #expect(throws: MarkedError("1")) { try await failing.next() }
        #expect(try await failing.next() == nil)
    }

    @Test func aReleasedIteratorCancelsTheWork() async throws {
        let (begun, causes) = (OrderRecorder<Int>(), OrderRecorder<CancellationCause?>())
        for try await _ in AsyncNumbers(count: 10).concurrentMap(
            limit: 3,
            { number in
                if number == 0 { return }
                begun.record(number)
                defer { causes.record(Task.cancellationCause) }
                try await Gate().wait()
            }
        ) {
            try await begun.waitForEvents(count: 3)
            break
        }
        try await causes.waitForEvents(count: 3)
        #expect(causes.events.allSatisfy { $0 == .ownerDeallocated(name: nil) })
    }

    @Test func aCancelledConsumerWaitsForTheEndOfTheWork() async throws {
        let (begun, causes) = (OrderRecorder<Int>(), OrderRecorder<CancellationCause?>())
        let bag = TaskBag()
        bag.addTask {
            await #expect(throws: CancellationError.self) {
                for try await _ in AsyncNumbers(count: 10).concurrentMap(
                    limit: 2,
                    { number in
                        begun.record(number)
                        defer { causes.record(Task.cancellationCause) }
                        try await Gate().wait()
                    }
                ) {}
            }
        }
        try await begun.waitForEvents(count: 2)
        bag.cancelAll(because: "signed out")
        try await bag.drain()
        #expect(causes.events == [.requested(reason: "signed out"), .requested(reason: "signed out")])
    }

    @Test func aWaitingConsumerEscalatesTheWork() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let begun = Gate()
        let consumer = Task(priority: .low) {
            for try await _ in AsyncNumbers(count: 1).concurrentMap(
                limit: 1,
                { _ in
                    begun.open()
                    await untilRaised(to: .high)
                }
            ) {}
        }
        try await begun.wait()
        consumer.escalatePriority(to: .high)
        try await consumer.value
    }
}

private struct AsyncNumbers: AsyncSequence, Sendable {
    let count: Int

    func makeAsyncIterator() -> Iterator { Iterator(count: count) }

    struct Iterator: AsyncIteratorProtocol {
        let count: Int
        var number = 0

        mutating func next() async -> Int? {
            if number == count { return nil }
            defer { number += 1 }
            return number
        }
    }
}

/// Passes a value to the one task that uses it.
private struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
