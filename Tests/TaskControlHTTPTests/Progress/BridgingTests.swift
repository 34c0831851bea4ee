import Dispatch
import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlTesting
import Testing

/// Callback APIs of Foundation, awaited.
@Suite(.timeLimit(.minutes(15)))
struct BridgingTests {
    @Test func aProgressBridgesACallbackAPI() async throws {
        let client = EndpointClient(ScriptedTransport(.ok("a")), completionQueue: .global())
        let text = try await withCancellableContinuation { continuation in
            client.request(Text()) { continuation.resume(with: $0) }
        }
        #expect(text == "a")
    }

    @Test(arguments: [CancelledContinuationBehavior.throwImmediately, .waitForCallback])
    func cancellingTheCallerCancelsTheProgress(_ behavior: CancelledContinuationBehavior) async throws {
        let gate = Gate()
        let ended = OrderRecorder<Bool>()
        let client = EndpointClient(
            ScriptedTransport { _ in
                defer { ended.record(Task.isCancelled) }
                try await gate.wait()
                return .ok("a")
            },
            completionQueue: .global()
        )
        let caller = Task {
            try await withCancellableContinuation(of: String.self, whenCancelled: behavior) { continuation in
                client.request(Text()) { continuation.resume(with: $0) }
            }
        }
        try await gate.waitForWaiters()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        try await ended.waitForEvents(count: 1)
        #expect(ended.events == [true])
    }

    @Test func aWorkItemBridgesAQueue() async throws {
        let queue = DispatchQueue(label: "work")
        let sum = try await withCancellableContinuation { continuation in
            let item = DispatchWorkItem { continuation.resume(returning: 1 + 1) }
            queue.async(execute: item)
            return item
        }
        #expect(sum == 2)
    }

    @Test func aWorkItemThatIsCancelledInItsQueueDoesNotRun() async throws {
        let queue = DispatchQueue(label: "work")
        let (isHeld, mayGo) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        queue.async {
            isHeld.signal()
            mayGo.wait()
        }
        isHeld.wait()
        let ran = OrderRecorder<Int>()
        let called = Gate()
        let caller = Task {
            try await withCancellableContinuation(of: Int.self) { continuation in
                let item = DispatchWorkItem {
                    ran.record(1)
                    continuation.resume(returning: 1)
                }
                queue.async(execute: item)
                called.open()
                return item
            }
        }
        try await called.wait()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        mayGo.signal()
        queue.sync {}
        #expect(ran.count == 0)
    }
}
