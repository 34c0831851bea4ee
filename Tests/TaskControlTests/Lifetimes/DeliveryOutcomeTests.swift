import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The value of the tasks of `run(for:)` and `forEach(_:for:)`.
@Suite(.timeLimit(.minutes(15)))
struct DeliveryOutcomeTests {
    @MainActor final class Model {
        var numbers: [Int] = []
        var errors: [MarkedError?] = []
    }

    actor Cache {
        var numbers: [Int] = []
    }

    private let failure = MarkedError("outcome")

    // MARK: Work

    @MainActor @Test func aValueThatTheOwnerHasReceivedIsDelivered() async {
        let (model, cache, lifetime) = (Model(), Cache(), AsyncLifetime())
        let ofModel = lifetime.run(for: model) {
            1
        } deliver: {
            $0.numbers.append($1)
        }
        let ofCache = lifetime.run(for: cache) {
            2
        } deliver: {
            $0.numbers.append($1)
        }
        let outcomes = await [ofModel.value.text, ofCache.value.text]
        #expect(outcomes == ["delivered", "delivered"])
        #expect(await (model.numbers, cache.numbers) == ([1], [2]))
    }

    @MainActor @Test func anErrorIsInTheOutcomeWhetherOrNotTheOwnerReceivesIt() async {
        let (model, cache, lifetime, incidents) = (Model(), Cache(), AsyncLifetime(), Incidents.shared)
        let (unheard, unheardByActor) = (MarkedError("outcome, unheard"), MarkedError("outcome, unheard by actor"))
        let heard = lifetime.run(for: model) { [failure] in
            throw failure
        } deliver: { (_, _: Int) in
        } onError: { model, error in
            model.errors.append(error as? MarkedError)
        }
        #expect(await heard.value.text == "failed \(failure)" && model.errors == [failure])
        let ofModel = lifetime.run(for: model) {
            throw unheard
        } deliver: { (_, _: Int) in
        }
        #expect(await ofModel.value.text == "failed \(unheard)")
        let ofCache = lifetime.run(for: cache) {
            throw unheardByActor
        } deliver: { (_, _: Int) in
        }
        #expect(await ofCache.value.text == "failed \(unheardByActor)")
        #expect(incidents.unhandled(failure).isEmpty)
        #expect(incidents.unhandled(unheard).count == 1 && incidents.unhandled(unheardByActor).count == 1)
    }

    @MainActor @Test func workOfACancelledTaskIsUndeliveredIfItReturnsAndCancelledIfItThrows() async throws {
        let (model, lifetime, started, gate) = (Model(), AsyncLifetime(), Gate(), Gate())
        let returning = lifetime.run(for: model) {
            started.open()
            await gate.waitIgnoringCancellation()
            return 1
        } deliver: {
            $0.numbers.append($1)
        }
        let cache = Cache()
        let ofCache = lifetime.run(for: cache) {
            await gate.waitIgnoringCancellation()
            return 1
        } deliver: {
            $0.numbers.append($1)
        }
        let throwing = lifetime.run(for: model) { [failure] in
            await gate.waitIgnoringCancellation()
            throw failure
        } deliver: { (_, _: Int) in
        }
        try await started.wait()
        try await gate.waitForWaiters(count: 3)
        lifetime.cancelAll()
        gate.open()
        let outcomes = await [returning.value.text, ofCache.value.text, throwing.value.text]
        #expect(outcomes == ["undelivered", "undelivered", "cancelled"] && model.numbers == [])
        lifetime.close()
        let refused = lifetime.run(for: model) {
            1
        } deliver: {
            $0.numbers.append($1)
        }
        #expect(await refused.value.text == "cancelled")
    }

    @MainActor @Test func workThatNeverBeginsIsCancelled() async throws {
        let (model, store, gate) = (Model(), TaskStore<Int>(), Gate())
        let running = store.run(forKey: 1, for: model) {
            try await gate.wait()
        } deliver: { _, _ in
        }
        try await gate.waitForWaiters()
        let overtaken = store.run(forKey: 1, duplicateKeyBehavior: .keepLatest, for: model) {
            1
        } deliver: { _, _ in
        }
        let newest = store.run(forKey: 1, duplicateKeyBehavior: .keepLatest, for: model) {
            2
        } deliver: { _, _ in
        }
        #expect(await overtaken.value.text == "cancelled")
        gate.open()
        let outcomes = await [running.value.text, newest.value.text]
        #expect(outcomes == ["delivered", "delivered"])
    }

    @MainActor @Test func aResultWithoutAnOwnerIsReleasedAndAnErrorWithoutOneHasFailed() async throws {
        let (lifetime, gate, incidents, orphan) = (
            AsyncLifetime(), Gate(), Incidents.shared, MarkedError("outcome, orphan")
        )
        var (model, cache): (Model?, Cache?) = (Model(), Cache())
        let ofModel = lifetime.run(for: model!) {
            await gate.waitIgnoringCancellation()
        } deliver: { _, _ in
        }
        let ofCache = lifetime.run(for: cache!) {
            await gate.waitIgnoringCancellation()
        } deliver: { _, _ in
        }
        let throwing = lifetime.run(for: model!) {
            await gate.waitIgnoringCancellation()
            throw orphan
        } deliver: { (_, _: Int) in
        } onError: { _, _ in
            Issue.record("There is no owner.")
        }
        (model, cache) = (nil, nil)
        gate.open()
        let outcomes = await [ofModel.value.text, ofCache.value.text, throwing.value.text]
        #expect(outcomes == ["ownerReleased", "ownerReleased", "failed \(orphan)"])
        #expect(incidents.unhandled(orphan).isEmpty, "the error concerned the owner only")
    }

    // MARK: Sequences

    @MainActor @Test func aSequenceThatHasEndedIsDelivered() async {
        let (model, cache, lifetime) = (Model(), Cache(), AsyncLifetime())
        func numbers() -> AsyncStream<Int> {
            AsyncStream { continuation in
                for number in 0..<3 { continuation.yield(number) }
                continuation.finish()
            }
        }
        let ofModel = lifetime.forEach(numbers(), for: model) { $0.numbers.append($1) }
        let ofCache = lifetime.forEach(numbers(), for: cache) { $0.numbers.append($1) }
        let outcomes = await [ofModel.value.text, ofCache.value.text]
        #expect(outcomes == ["delivered", "delivered"])
        #expect(await (model.numbers, cache.numbers) == ([0, 1, 2], [0, 1, 2]))
    }

    @MainActor @Test func aSequenceThatFailsHasFailed() async {
        let (model, cache, lifetime) = (Model(), Cache(), AsyncLifetime())
        func failing() -> AsyncThrowingStream<Int, any Error> { AsyncThrowingStream { $0.finish(throwing: failure) } }
        let ofModel = lifetime.forEach(failing(), for: model) { _, _ in
        } onError: { _, _ in
        }
        let ofCache = lifetime.forEach(failing(), for: cache) { _, _ in
        } onError: { _, _ in
        }
        let outcomes = await [ofModel.value.text, ofCache.value.text]
        #expect(outcomes == ["failed \(failure)", "failed \(failure)"])
    }

    @MainActor @Test func anIterationThatIsCancelledOrLosesItsOwnerSaysSo() async {
        let (lifetime, model) = (AsyncLifetime(), Model())
        let (endless, _) = AsyncStream<Int>.makeStream()
        let cancelled = lifetime.forEach(endless, for: model) { _, _ in }
        cancelled.cancel()
        #expect(await cancelled.value.text == "cancelled")
        var (owner, cache): (Model?, Cache?) = (Model(), Cache())
        let (first, firstContinuation) = AsyncStream<Int>.makeStream()
        let (second, secondContinuation) = AsyncStream<Int>.makeStream()
        let ofOwner = lifetime.forEach(first, for: owner!) { _, _ in }
        let ofCache = lifetime.forEach(second, for: cache!) { _, _ in }
        (owner, cache) = (nil, nil)
        firstContinuation.yield(1)
        secondContinuation.yield(1)
        let outcomes = await [ofOwner.value.text, ofCache.value.text]
        #expect(outcomes == ["ownerReleased", "ownerReleased"])
    }

    // MARK: Tasks that prefer the previous one

    @MainActor @Test func aDuplicateEndsWithTheTaskThatIsPreferred() async throws {
        let (model, store, gate) = (Model(), TaskStore<Int>(), Gate())
        func run(_ number: Int) -> Task<DeliveryOutcome, Never> {
            store.run(forKey: 1, duplicateKeyBehavior: .preferPrevious, for: model) {
                await gate.waitIgnoringCancellation()
                return number
            } deliver: {
                $0.numbers.append($1)
            }
        }
        let (first, second) = (run(1), run(2))
        #expect(store.count == 1 && first == second)
        try await gate.waitForWaiters()
        gate.open()
        #expect(await second.value.text == "delivered" && model.numbers == [1])
        #expect(await run(3).value.text == "delivered")
    }

    @MainActor @Test func cancellingADuplicateCancelsTheTaskThatIsPreferred() async {
        let (model, slot) = (Model(), TaskSlot(behavior: .preferPrevious))
        let first = slot.run(for: model) {
            try await Gate().wait()
        } deliver: { _, _ in
        }
        let second = slot.run(for: model) {
            Issue.record("It does not run.")
        } deliver: { _, _ in
        }
        second.cancel()
        // A task that is cancelled is not preferred.
        let third = slot.run(for: model) {
            3
        } deliver: {
            $0.numbers.append($1)
        }
        #expect(await third.value.text == "delivered" && model.numbers == [3])
        let outcomes = await [first.value.text, second.value.text]
        #expect(outcomes == ["cancelled", "cancelled"])
    }

    /// A task with a value is not handed out as one without.
    @MainActor @Test func aTaskMayPreferOneOfTheOtherType() async throws {
        let (model, store) = (Model(), TaskStore<Int>())
        let (first, second) = (Gate(), Gate())
        let delivery = store.run(forKey: 1, for: model) {
            await first.waitIgnoringCancellation()
        } deliver: { _, _ in
        }
        let plain = store.addTask(forKey: 1, duplicateKeyBehavior: .preferPrevious) { Issue.record("It does not run.") }
        first.open()
        await plain.value
        #expect(await delivery.value.text == "delivered")
        let running = store.addTask(forKey: 2) { await second.waitIgnoringCancellation() }
        let duplicate = store.run(forKey: 2, duplicateKeyBehavior: .preferPrevious, for: model) {
            1
        } deliver: { _, _ in
            Issue.record("It does not run.")
        }
        #expect(store.addTask(forKey: 2, duplicateKeyBehavior: .preferPrevious) {} == running)
        second.open()
        #expect(await duplicate.value.text == "duplicate")
        let cancelled = store.run(forKey: 3, for: model) {
            try await Gate().wait()
        } deliver: { _, _ in
        }
        store.addTask(forKey: 3, duplicateKeyBehavior: .preferPrevious) {}.cancel()
        #expect(await cancelled.value.text == "cancelled")
    }
}

extension DeliveryOutcome {
    fileprivate var text: String {
        switch self {
        case .delivered: "delivered"
        case .failed(let error): "failed \(error)"
        case .cancelled: "cancelled"
        case .undelivered: "undelivered"
        case .ownerReleased: "ownerReleased"
        case .duplicate: "duplicate"
        }
    }
}
