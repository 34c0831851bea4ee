import Foundation
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The behavior of a bridge whose caller is cancelled.
///
/// On the main actor, as the callers are: when a test continues after `called.wait()`, the caller has parked.
@MainActor @Suite(.timeLimit(.minutes(15)))
struct BridgeCancellationTests {
    private let api = CallbackAPI()

    @Test(arguments: [CancelledContinuationBehavior.throwImmediately, .waitForCallback])
    func whoIsCancelledBeforehandCallsNothing(whenCancelled: CancelledContinuationBehavior) async {
        let caller = Task {
            cancelCurrentTask()
            return try await call(api, whenCancelled: whenCancelled)
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(!api.called.isOpen)
    }

    @Test func aCancelledCallerLeavesAtOnce() async throws {
        let caller = Task { try await call(api) }
        try await api.called.wait()
        caller.cancel()
        #expect(api.cancellations.count == 1, "by the thread that cancels")
        #expect(api.forgotten.isOpen, "and nobody keeps the handle, though the API keeps its callback")
        await #expect(throws: CancellationError.self) { try await caller.value }
        api.callBack(.success(1))
        #expect(api.cancellations.count == 1)
    }

    @Test func whoWaitsForTheCallbackLeavesWithIt() async throws {
        let left = Gate()
        let caller = Task {
            defer { left.open() }
            return try await call(api, whenCancelled: .waitForCallback)
        }
        try await api.called.wait()
        caller.cancel()
        #expect(api.cancellations.count == 1 && api.forgotten.isOpen)
        // Other tasks of the main actor have their turn: a caller that had been resumed would have left.
        await Task { @MainActor in }.value
        #expect(!left.isOpen)
        api.callBack(.failure(MarkedError()))
        await #expect(throws: CancellationError.self, "in whatever words it failed") { try await caller.value }
    }

    @Test func aValueThatComesInSpiteOfACancellationIsAValue() async throws {
        let caller = Task { try await call(api, whenCancelled: .waitForCallback) }
        try await api.called.wait()
        caller.cancel()
        api.callBack(.success(7))
        #expect(try await caller.value == 7)
    }

    /// The race of the callback API that is being called: forced, from inside and from another thread.
    @Test(arguments: [CancelledContinuationBehavior.throwImmediately, .waitForCallback], [false, true])
    func aCancellationWhileTheApiIsCalledReachesTheHandle(
        whenCancelled: CancelledContinuationBehavior,
        isElsewhere: Bool
    ) async throws {
        let caller = Level<Task<Int, any Error>?>(nil)
        let ready = Gate()
        let task = Task {
            await ready.waitIgnoringCancellation()
            return try await call(api, whenCancelled: whenCancelled) { api in
                if isElsewhere { elsewhere { caller.value?.cancel() } } else { cancelCurrentTask() }
                #expect(Task.isCancelled)
                #expect(api.cancellations.count == 0, "there is nothing yet that could be cancelled")
            }
        }
        caller.value = task
        ready.open()
        try await api.called.wait()
        #expect(api.cancellations.count == 1 && api.forgotten.isOpen)
        api.callBack(.failure(MarkedError()))
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(api.cancellations.count == 1)
    }

    @Test(arguments: [CancelledContinuationBehavior.throwImmediately, .waitForCallback])
    func aCallbackInsideTheCallWinsOverACancellationInsideTheCall(whenCancelled: CancelledContinuationBehavior)
        async throws
    {
        let caller = Task {
            try await call(api, whenCancelled: whenCancelled) { api in
                cancelCurrentTask()
                api.callBack(.success(7))
            }
        }
        #expect(try await caller.value == 7)
        #expect(api.cancellations.count == 0 && api.forgotten.isOpen, "the handle is only let go")
    }

    @Test func aHandleThatCallsBackInsideItsCancellationIsRight() async throws {
        let failing = CallbackAPI { $0.callBack(.failure(MarkedError())) }
        let leaving = Task { try await call(failing) }
        try await failing.called.wait()
        leaving.cancel()
        await #expect(throws: CancellationError.self) { try await leaving.value }
        let succeeding = CallbackAPI { $0.callBack(.success(7)) }
        let waiting = Task { try await call(succeeding, whenCancelled: .waitForCallback) }
        try await succeeding.called.wait()
        waiting.cancel()
        #expect(try await waiting.value == 7)
        #expect(failing.cancellations.count == 1 && succeeding.cancellations.count == 1)
    }

    @Test func aHandleThatLetsGoOfTheCallbackInsideItsCancellationIsRight() async throws {
        let api = CallbackAPI { $0.letGo() }
        let caller = Task { try await call(api, whenCancelled: .waitForCallback) }
        try await api.called.wait()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
    }

    /// On real threads, for ThreadSanitizer; the simulation plays the orders.
    @Test(arguments: [CancelledContinuationBehavior.throwImmediately, .waitForCallback])
    func aCallbackAndACancellationOfOtherThreadsMayMeet(whenCancelled: CancelledContinuationBehavior) async {
        for _ in 0..<300 {
            let api = CallbackAPI()
            let caller = Task.detached {
                try await withCancellableContinuation(of: Int.self, whenCancelled: whenCancelled) { continuation in
                    api.load({ continuation.resume(with: $0) }) { api in
                        Task.detached { api.callBack(.success(7)) }
                    }
                }
            }
            await Task.detached { caller.cancel() }.value
            switch await caller.result {
            case .success(let value): #expect(value == 7)
            case .failure(let error): #expect(error is CancellationError)
            }
            #expect(api.cancellations.count <= 1 && api.forgotten.isOpen == api.called.isOpen)
        }
    }

    // MARK: One cancellation error

    @Test func aCancellationErrorOfTheApisOwnIsAnErrorLikeOthers() async throws {
        await #expect(throws: CancellationError.self) {
            try await call(api) { $0.callBack(.failure(CancellationError())) }
        }
        await #expect(throws: MarkedError("cancelled")) {
            try await call(api) { $0.callBack(.failure(MarkedError("cancelled"))) }
        }
    }

    @Test func anErrorThatMeetsACancellationIsACancellationAndAValueIsNot() async throws {
        let failing = Task { try await call(api) }
        try await api.called.wait()
        api.callBack(.failure(MarkedError()))
        failing.cancel()
        await #expect(throws: CancellationError.self) { try await failing.value }
        #expect(api.cancellations.count == 0, "it was over")

        let another = CallbackAPI()
        let succeeding = Task { try await call(another) }
        try await another.called.wait()
        another.callBack(.success(7))
        succeeding.cancel()
        #expect(try await succeeding.value == 7)
    }

    @Test func whatACancelledCallThrowsIsACancellation() async {
        let caller = Task {
            try await withCancellableContinuation(of: Int.self) { _ -> CallbackAPI.Request in
                cancelCurrentTask()
                throw MarkedError()
            }
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
    }

    // MARK: Handles

    private func cancels<Handle: Cancellable & Sendable>(_ handle: Handle) async {
        let caller = Task {
            try await withCancellableContinuation(of: Int.self) { continuation in
                api.load { continuation.resume(with: $0) }.cancel()
                cancelCurrentTask()
                return handle
            }
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
    }

    @Test func tasksAreHandles() async throws {
        let task = Task { try await Gate().wait() }
        await cancels(task)
        await #expect(throws: CancellationError.self) { try await task.value }
        let kept = AsyncTask { try? await Gate().wait() }
        await cancels(kept)
        await kept.value
        #expect(kept.isCancelled)
    }

    /// Not Sendable, so it is made inside.
    @Test func anAnyCancellableIsAHandle() async throws {
        let cancelled = OrderRecorder<Bool>()
        let caller = Task {
            try await withCancellableContinuation(of: Int.self) { continuation in
                _ = api.load { continuation.resume(with: $0) }
                cancelCurrentTask()
                return AnyCancellable { @Sendable in cancelled.record(true) }
            }
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(cancelled.count == 1)
    }

    // MARK: The three attempts of the document that this replaces

    /// "Looks easy, right? But with this approach, we are not able to cancel our request."
    private func firstAttempt(_ load: (@escaping CallbackAPI.Callback) -> CallbackAPI.Request) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            _ = load { continuation.resume(with: $0) }
        }
    }

    /// "Now it compiles without error."
    private func secondAttempt(_ load: (@escaping CallbackAPI.Callback) -> CallbackAPI.Request) async throws -> Int {
        final class Wrapper: @unchecked Sendable { var request: CallbackAPI.Request? }
        let wrapper = Wrapper()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wrapper.request = load { continuation.resume(with: $0) }
            }
        } onCancel: {
            wrapper.request?.cancel()
        }
    }

    /// "Let's make it thread-safely": the final one.
    private func thirdAttempt(_ load: (@escaping CallbackAPI.Callback) -> CallbackAPI.Request) async throws -> Int {
        let wrapper = Locked<CallbackAPI.Request?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let request = load { continuation.resume(with: $0) }
                wrapper.withLock { $0 = request }
            }
        } onCancel: {
            wrapper.withLock { $0 }?.cancel()
        }
    }

    private func bridged(_ load: (@escaping CallbackAPI.Callback) -> CallbackAPI.Request) async throws -> Int {
        try await withCancellableContinuation { continuation in load { continuation.resume(with: $0) } }
    }

    /// The request is cancelled while it is being made: each attempt forgets that, and waits for a result without use.
    @Test(arguments: 1...4)
    func aCancellationThatComesEarlyIsLostByEveryAttemptOfTheDocument(attempt: Int) async throws {
        let api = api
        let load: @MainActor (@escaping CallbackAPI.Callback) -> CallbackAPI.Request = { callback in
            api.load(callback) { _ in cancelCurrentTask() }
        }
        let caller = Task {
            switch attempt {
            case 1: try await firstAttempt(load)
            case 2: try await secondAttempt(load)
            case 3: try await thirdAttempt(load)
            default: try await bridged(load)
            }
        }
        try await api.called.wait()
        #expect(api.cancellations.count == (attempt == 4 ? 1 : 0))
        if attempt < 4 { api.callBack(.success(7)) }
        if attempt < 4 {
            #expect(try await caller.value == 7)
        } else {
            await #expect(throws: CancellationError.self) { try await caller.value }
        }
    }
}

/// Something that is set and read from several threads.
private final class Level<Value: Sendable>: Sendable {
    private let content: Locked<Value>

    init(_ value: Value) { content = Locked(value) }

    var value: Value {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}
