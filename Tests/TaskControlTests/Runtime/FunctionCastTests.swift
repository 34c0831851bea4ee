import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Functions whose type was cast run where the new type claims, with what they were given.
@Suite(.timeLimit(.minutes(15)))
struct FunctionCastTests {
    private actor Place {
        var count = 0

        /// Traps if the caller is not on this actor.
        func add(_ number: Int) -> Int {
            count += number
            return count
        }

        nonisolated func touch(_ number: Int) -> Int {
            assumeIsolated { $0.add(number) }
        }

        /// The argument of a caller on this actor, such as `Task(on: queue) { … }`.
        func received(
            _ number: Int
        ) -> @Sendable @isolated(any) () async -> Int {
            Self.pass { self.add(number) + self.touch(number) }
        }

        private static func pass(
            @_inheritActorContext _ operation: sending @escaping @isolated(any) () async -> Int
        ) -> @Sendable @isolated(any) () async -> Int {
            TaskControl.received(operation)
        }
    }

    private final class Box {
        var value = 0
    }

    @Test func aReceivedOperationKeepsItsIsolation() async throws {
        let place = Place()
        let operation = await place.received(2)
        #expect(operation.isolation === place)
        #expect(await operation() == 6)
        let throwing: @Sendable @isolated(any) () async throws -> Int = received { @MainActor in
            MainActor.assertIsolated()
            return 7
        }
        #expect(throwing.isolation === MainActor.shared)
        #expect(try await throwing() == 7)
    }

    @Test func aReceivedOperationWithoutAResultKeepsItsIsolationAndCaptures() async throws {
        let box = Box()
        let plain: Operation = received { @MainActor [box] in
            MainActor.assertIsolated()
            box.value += 1
        }
        #expect(plain.isolation === MainActor.shared)
        await plain()
        let throwing: ThrowingOperation = received { () async throws in throw CancellationError() }
        #expect(throwing.isolation == nil)
        await #expect(throws: CancellationError.self) { try await throwing() }
    }

    /// An operation is stored as one that cannot throw, and called as what it is.
    @Test func aStoredOperationIsCalledAsTheTypeThatItWasCreatedWith() async throws {
        let sum = Locked(0)
        let plainOperation: Operation = { @MainActor in
            MainActor.assertIsolated()
            await Task.yield()
            sum.withLock { $0 += 1 }
        }
        let throwingOperation: ThrowingOperation = { @MainActor in
            MainActor.assertIsolated()
            await Task.yield()
            let value = sum.withLock { sum in
                sum += 2
                return sum
            }
            if value > 3 { throw MarkedError() }
        }
        let (plain, throwing) = (StoredOperation(plainOperation), StoredOperation(throwingOperation))
        #expect(plain.isolation === MainActor.shared && throwing.isolation === MainActor.shared)
        try await plain.run()
        try await throwing.run()
        #expect(sum.withLock { $0 } == 3)
        await #expect(throws: MarkedError.self) { try await throwing.run() }
        #expect(sum.withLock { $0 } == 5)
        let anywhere: ThrowingOperation = {}
        #expect(StoredOperation(anywhere).isolation == nil)
    }

    @Test func aTaskIsCreatedInTheIsolationOfTheGivenActor() async throws {
        struct Body: _TaskBody {
            let place: Place

            nonisolated(nonsending) func run() async -> Int { place.touch(5) }
        }
        struct Failing: _TaskBody {
            let place: Place

            nonisolated(nonsending) func run() async throws -> Int {
                _ = place.touch(1)
                throw CancellationError()
            }
        }
        let place = Place()
        let task = spawn(name: "a", priority: nil, isolatedTo: place, Body(place: place))
        #expect(await task.value == 5)
        let failing = spawn(name: nil, priority: nil, isolatedTo: place, Failing(place: place))
        await #expect(throws: CancellationError.self) { try await failing.value }
        #expect(await place.count == 6)
    }

    /// A task of an operation that cannot throw is created as one that could.
    @Test(arguments: [false, true])
    func aTaskThatCannotFailIsAwaitedAsSuch(hasEnded: Bool) async throws {
        struct Body: _TaskBody {
            let gate: Gate
            let box: Locked<[Int]>

            nonisolated(nonsending) func run() async -> [Int] {
                try? await gate.wait()
                return box.withLock { $0 } + [Task.isCancelled ? 1 : 0]
            }
        }
        let (gate, box) = (Gate(), Locked([7]))
        let tasks = [
            spawn(name: nil, priority: nil, isolatedTo: nil, Body(gate: gate, box: box)),
            spawn(name: nil, priority: .high, isolatedTo: MainActor.shared, Body(gate: gate, box: box)),
            spawnDetached(name: "a", priority: nil, Body(gate: gate, box: box)),
        ]
        tasks[1].cancel()
        if hasEnded { gate.open() }
        for (number, task) in tasks.enumerated() {
            async let value = task.value
            async let result = task.result
            if !hasEnded, number == 2 { gate.open() }
            if !hasEnded, number == 0 { tasks[0].cancel() }
            let isCancelled = number == 1 || number == 0 && !hasEnded
            #expect(await value == [7, isCancelled ? 1 : 0])
            #expect(await result.get() == [7, isCancelled ? 1 : 0])
            #expect(await task.cancellableValue == [7, isCancelled ? 1 : 0])
            #expect(task.isCancelled == isCancelled)
        }
    }

    @Test @MainActor func aBorrowedOperationRunsInTheIsolationOfItsCaller() async throws {
        let box = Box()
        let value = try await withTimeout(.seconds(3_600)) {
            MainActor.assertIsolated()
            box.value += 1
            await Task.yield()
            MainActor.assertIsolated()
            return box
        }
        #expect(value === box && box.value == 1)
    }

    @Test @MainActor func anOperationThatOtherCodeCanCancelRunsInTheIsolationOfItsCaller() async throws {
        let box = Box()
        let result = await withCancellation { _ in
        } operation: {
            MainActor.assertIsolated()
            box.value += 1
            await Task.yield()
            MainActor.assertIsolated()
            return box
        }
        #expect(try result.get() === box && box.value == 1)
    }

    @Test func aClosureThatIsCalledOnceKeepsItsCaptures() {
        let box = Box()
        calledOnce { box.value += 3 }()
        #expect(box.value == 3)
    }
}
