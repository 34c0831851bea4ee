/// Bugs of cancellation, and of continuations that are resumed never or twice.
extension PlantedBug {
    static let cancellationBugs = [
        lateRegistration, swallowedCancellation, skippedCleanup, droppedContinuation, doubleResume,
    ]

    // MARK: A cancellation that comes before the registration

    /// Bridges a callback. The twin remembers a cancellation that comes before there is a continuation.
    private final class Request: Sendable {
        private let state = Guarded((waiter: CheckedContinuation<Void, Never>?.none, isCancelled: false))

        func finish(isFixed: Bool) async {
            await withTaskCancellationHandler {
                await Task.yield()
                await withCheckedContinuation { waiter in
                    let isOver = state.withLock { state in
                        if isFixed, state.isCancelled { return true }
                        state.waiter = waiter
                        return false
                    }
                    if isOver { waiter.resume() }
                }
            } onCancel: {
                let waiter = state.withLock { state in
                    state.isCancelled = true
                    defer { state.waiter = nil }
                    return state.waiter
                }
                waiter?.resume()
            }
        }
    }

    private static let lateRegistration = PlantedBug(
        "cancelled before it is registered",
        .cancellation
    ) { world, isFixed in
        let task = Task { await Request().finish(isFixed: isFixed) }
        world.cancelAtAnyPoint(task)
        await task.value
    }

    // MARK: A cancellation that `try?` swallows

    private static let swallowedCancellation = PlantedBug(
        "cancellation swallowed by try?",
        .cancellation
    ) { world, isFixed in
        let upload = Guarded((isCancelled: false, isCommittedLate: false))
        let task = Task {
            await withTaskCancellationHandler {
                for _ in 0..<2 { try? await Task.sleep(for: .milliseconds(3)) }
                upload.withLock { upload in
                    if isFixed, upload.isCancelled { return }
                    upload.isCommittedLate = upload.isCancelled
                }
            } onCancel: {
                upload.withLock { $0.isCancelled = true }
            }
        }
        world.cancelAtAnyPoint(task)
        await task.value
        world.expect(!upload.withLock { $0.isCommittedLate }, "a cancelled upload is not committed")
    }

    // MARK: A cleanup that is skipped by a task that is cancelled before it starts

    private static let skippedCleanup = PlantedBug(
        "cleanup skipped by an early cancellation",
        .cancellation
    ) { world, isFixed in
        let isBusy = Guarded(true)
        let task = Task {
            if !isFixed, Task.isCancelled { return }
            defer { isBusy.withLock { $0 = false } }
            if !Task.isCancelled { await world.pause() }
        }
        world.cancelAtAnyPoint(task)
        await task.value
        world.expect(!isBusy.withLock { $0 }, "nobody is busy at the end")
    }

    // MARK: A dropped continuation

    /// The second request replaces the continuation of the first.
    private actor Prompt {
        private var waiters: [UnsafeContinuation<Void, Never>] = []

        func answer(_ asked: AsyncStream<Void>.Continuation, isFixed: Bool) async {
            await withUnsafeContinuation {
                if !isFixed { waiters = [] }
                waiters.append($0)
                asked.yield()
            }
        }

        func submit() {
            for waiter in waiters { waiter.resume() }
            waiters = []
        }
    }

    private static let droppedContinuation = PlantedBug(
        "continuation replaced by the next",
        .continuation
    ) { _, isFixed in
        let prompt = Prompt()
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        async let one: Void = prompt.answer(ask, isFixed: isFixed)
        async let other: Void = prompt.answer(ask, isFixed: isFixed)
        for await _ in asked.prefix(2) { await prompt.submit() }
        _ = await (one, other)
    }

    // MARK: A continuation that is resumed by the answer and by the timeout

    private actor Reply {
        private var isAnswered = false
        /// A `CheckedContinuation` ends the process at the second: here they are counted.
        private(set) var resumptions = 0

        func resume(isFixed: Bool) async {
            if isAnswered { return }
            if isFixed { isAnswered = true }
            await Task.yield()  // the log
            isAnswered = true
            resumptions += 1
        }
    }

    private static let doubleResume = PlantedBug("continuation resumed twice", .continuation) { world, isFixed in
        let reply = Reply()
        async let answer: Void = {
            await world.pause()
            await reply.resume(isFixed: isFixed)
        }()
        async let timeout: Void = {
            try? await Task.sleep(for: .milliseconds(5))
            await reply.resume(isFixed: isFixed)
        }()
        _ = await (answer, timeout)
        world.expect(await reply.resumptions == 1, "the continuation is resumed once")
    }
}
