import TaskControl
import TaskControlTesting

/// Bugs of code that parks tasks by hand: somebody waits for ever.
extension PlantedBug {
    // MARK: A missed wake-up

    private actor Signal {
        private var isOn = false
        private var waiters: [CheckedContinuation<Void, Never>] = []

        var isSet: Bool { isOn }

        func set() {
            isOn = true
            for waiter in waiters { waiter.resume() }
            waiters = []
        }

        func park() async {
            await withCheckedContinuation { waiters.append($0) }
        }

        func wait() async {
            if isOn { return }
            await withCheckedContinuation { waiters.append($0) }
        }
    }

    static let missedWakeUp = PlantedBug(name: "missed wake-up", bound: 50) { sim in
        let signal = Signal()
        async let waiting: Void = {
            guard await !signal.isSet else { return }
            // Set now, nobody will wake it.
            sim.note("not set: waits")
            await signal.park()
        }()
        async let setting: Void = signal.set()
        _ = await (waiting, setting)
    } twin: { _ in
        let signal = Signal()
        async let waiting: Void = signal.wait()
        async let setting: Void = signal.set()
        _ = await (waiting, setting)
    }

    // MARK: Two locks in two orders

    private actor AsyncLock {
        private var isTaken = false
        private var waiters: [CheckedContinuation<Void, Never>] = []

        func lock() async {
            if isTaken { await withCheckedContinuation { waiters.append($0) } }
            isTaken = true
        }

        func unlock() {
            if waiters.isEmpty { isTaken = false } else { waiters.removeFirst().resume() }
        }
    }

    private static func holding(_ first: AsyncLock, _ second: AsyncLock) async {
        await first.lock()
        await second.lock()
        await second.unlock()
        await first.unlock()
    }

    static let lockOrder = PlantedBug(name: "AB/BA deadlock", bound: 20) { _ in
        let (a, b) = (AsyncLock(), AsyncLock())
        async let one: Void = holding(a, b)
        async let other: Void = holding(b, a)
        _ = await (one, other)
    } twin: { _ in
        let (a, b) = (AsyncLock(), AsyncLock())
        async let one: Void = holding(a, b)
        async let other: Void = holding(a, b)
        _ = await (one, other)
    }

    // MARK: A dropped continuation

    /// The second request replaces the first one's continuation, which nobody resumes.
    private actor Prompt {
        private var waiters: [UnsafeContinuation<Void, Never>] = []

        func answerDropping() async {
            await withUnsafeContinuation { waiters = [$0] }
        }

        func answer() async {
            await withUnsafeContinuation { waiters.append($0) }
        }

        func submit() -> Int {
            defer { waiters = [] }
            for waiter in waiters { waiter.resume() }
            return waiters.count
        }
    }

    private static func prompts(_ answer: @escaping @Sendable (Prompt) async -> Void) async {
        let prompt = Prompt()
        let asking = [Task { await answer(prompt) }, Task { await answer(prompt) }]
        let user = Task {
            // Presses the button until both have their answer.
            var answered = 0
            while answered < 2, !Task.isCancelled {
                answered += await prompt.submit()
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        for task in asking { await task.value }
        await user.value
    }

    static let droppedContinuation = PlantedBug(name: "dropped continuation", bound: 50) { _ in
        await prompts { await $0.answerDropping() }
    } twin: { _ in
        await prompts { await $0.answer() }
    }

    // MARK: A cancellation that comes before the registration

    /// Bridges a callback; `isRemembering`: a cancellation that comes before there is anything to cancel is kept.
    private final class Request: Sendable {
        private struct State {
            var waiter: CheckedContinuation<Bool, Never>?
            var isCancelled = false
        }

        private let state = Locked(State())
        private let isRemembering: Bool

        init(isRemembering: Bool) {
            self.isRemembering = isRemembering
        }

        func value() async -> Bool {
            await withTaskCancellationHandler {
                await Task.yield()
                return await withCheckedContinuation { waiter in
                    let isOver = state.withLock { state in
                        if isRemembering, state.isCancelled { return true }
                        state.waiter = waiter
                        return false
                    }
                    if isOver { waiter.resume(returning: false) }
                }
            } onCancel: {
                let waiter = state.withLock { state in
                    state.isCancelled = true
                    defer { state.waiter = nil }
                    return state.waiter
                }
                waiter?.resume(returning: false)
            }
        }
    }

    static let lateRegistration = PlantedBug(name: "cancelled before it is registered", bound: 20) { sim in
        let task = Task { await Request(isRemembering: false).value() }
        sim.cancelSomewhere(task)
        _ = await task.value
    } twin: { sim in
        let task = Task { await Request(isRemembering: true).value() }
        sim.cancelSomewhere(task)
        _ = await task.value
    }
}
