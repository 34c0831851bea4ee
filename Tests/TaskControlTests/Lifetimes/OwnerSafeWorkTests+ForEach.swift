import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// `forEach(_:for:)`.
extension OwnerSafeWorkTests {
    @MainActor @Test func elementsAreHandledInOrderOneAtATime() async {
        let (model, handled) = (Model(), OrderRecorder<Int>())
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        let task = model.follow(stream, handled)
        for number in 0..<10 { continuation.yield(number) }
        continuation.finish()
        _ = await task.value
        #expect(model.items == Array(0..<10) && handled.events == Array(0..<10) && model.lifetime.isEmpty)
    }

    @MainActor @Test func theOwnerDeinitialisesWhileTheNextElementIsAwaited() async {
        let (gone, ended, first) = (Gate(), Gate(), Gate())
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        continuation.onTermination = { _ in ended.open() }
        var model: Model? = Model(gone)
        let task = model!.follow(stream, OrderRecorder(), first: first)
        continuation.yield(1)
        try? await first.wait()
        model = nil
        // Held at most while the first element is handled.
        try? await gone.wait()
        try? await ended.wait()
        _ = await task.value
    }

    @MainActor @Test func theIterationEndsAtTheFirstElementAfterTheOwnerHasGone() async {
        let (lifetime, handled) = (AsyncLifetime(), OrderRecorder<Int>())
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        var model: Model? = Model(lifetime: lifetime)
        let task = model!.follow(stream, handled)
        model = nil
        continuation.yield(1)
        _ = await task.value
        #expect(handled.events == [] && !task.isCancelled)
    }

    @MainActor @Test func theIterationEndsWhenTheTaskIsCancelled() async {
        let (model, handled) = (Model(), OrderRecorder<Int>())
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        let task = model.follow(stream, handled)
        model.lifetime.cancelAll()
        continuation.yield(1)
        _ = await task.value
        #expect(handled.events == [])
    }

    @Test func anActorHandlesElementsInItsOwnIsolation() async {
        let store = Store()
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        let task = await store.follow(stream)
        continuation.yield(1)
        continuation.yield(2)
        continuation.finish()
        _ = await task.value
        #expect(await store.items == [1, 2])
    }

    @Test func theIterationEndsAtTheFirstElementAfterAnActorHasGone() async {
        let (gone, first, lifetime, handled) = (Gate(), Gate(), AsyncLifetime(), OrderRecorder<Int>())
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        var store: Store? = Store(gone, lifetime: lifetime)
        let task = lifetime.forEach(stream, for: store!) { _, element in
            handled.record(element)
            first.open()
        }
        continuation.yield(1)
        try? await first.wait()
        store = nil
        // Held at most while the first element is handled.
        try? await gone.wait()
        continuation.yield(2)
        // The stream continues: only the end of the owner can end the iteration.
        _ = await task.value
        #expect(handled.events == [1] && !task.isCancelled && lifetime.isEmpty)
    }

    @Test func anActorThatGoesWithItsLifetimeEndsTheIterationWhileTheNextElementIsAwaited() async {
        let (gone, ended, first) = (Gate(), Gate(), Gate())
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        continuation.onTermination = { _ in ended.open() }
        var store: Store? = Store(gone)
        let task = store!.lifetime.forEach(stream, for: store!) { _, _ in first.open() }
        continuation.yield(1)
        try? await first.wait()
        store = nil
        try? await gone.wait()
        try? await ended.wait()
        _ = await task.value
        #expect(task.isCancelled)
    }

    @MainActor @Test func aCancellationErrorOfASequenceGoesToDiagnosticsIfNobodyWasCancelledAndNobodyHandlesIt() async {
        let (model, store) = (Model(), Store())
        let reported = await Incidents.shared.reported {
            let streams = (0..<2).map { _ in
                AsyncThrowingStream<Int, any Error> { $0.finish(throwing: CancellationError()) }
            }
            _ = await model.lifetime.forEach(streams[0], for: model) { _, _ in }.value
            _ = await store.lifetime.forEach(streams[1], for: store) { _, _ in }.value
        }
        #expect(reported.cancellationErrors == ["AsyncLifetime.forEach", "AsyncLifetime.forEach"])
    }

    @Test func anErrorThatEndsTheSequenceIsHandedToTheOwnerOrToDiagnostics() async {
        let (incidents, lifetime, model, log) = (
            Incidents.shared, AsyncLifetime(), await Model(), OrderRecorder<MarkedError?>()
        )
        let (heard, unheard) = (MarkedError("heard element"), MarkedError("unheard element"))
        func failing(_ error: MarkedError) -> AsyncThrowingStream<Int, any Error> {
            AsyncThrowingStream { $0.finish(throwing: error) }
        }
        _ = await lifetime.forEach(failing(heard), for: model) { _, _ in
        } onError: { _, error in
            log.record(error as? MarkedError)
        }.value
        _ = await lifetime.forEach(failing(unheard), for: model) { _, _ in }.value
        #expect(log.events == [heard] && incidents.unhandled(unheard).count == 1)
    }
}
