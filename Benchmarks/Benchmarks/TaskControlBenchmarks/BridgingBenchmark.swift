import Benchmark
import TaskControl

import class Foundation.NSLock

/// Registers the benchmark of a callback API that is called with a cancellable continuation, compared with the continuations of the standard library.
func registerBridging() {
    for api in [API.prompt, .late] {
        Benchmark.row("withCancellableContinuation, \(api.name)") {
            var row = Row(
                primitive: "`withCancellableContinuation { }`, \(api.name)",
                baseline: "`withCheckedThrowingContinuation { }` and an empty cancellation handler",
                turns: await turns(api, baseline: checked, primitive: bridged)
            )
            row.target = .ratio(atMost: 1.3)
            row.allocations = await allocations(api, baseline: checked, primitive: bridged)
            return row
        }
        Benchmark.row("withCancellableContinuation beside a box, \(api.name)") {
            var row = Row(
                primitive: "`withCancellableContinuation { }`, \(api.name)",
                baseline: "the same by hand, with a request in a locked box",
                turns: await turns(api, baseline: boxed, primitive: bridged)
            )
            row.allocations = await allocations(api, baseline: boxed, primitive: bridged)
            return row
        }
    }
}

/// An API that the compiler of the callers can't optimize through, as is usual of such APIs.
private class API: @unchecked Sendable {
    static let prompt: API = Prompt()
    static let late: API = Late()

    var name: String { "" }

    func load(_ number: Int, _ completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> Request {
        Request(number)
    }

    final class Prompt: API, @unchecked Sendable {
        override var name: String { "called back at once" }

        override func load(_ number: Int, _ completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> Request
        {
            completion(.success(number))
            return Request(number)
        }
    }

    final class Late: API, @unchecked Sendable {
        override var name: String { "called back by another task" }

        override func load(_ number: Int, _ completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> Request
        {
            Task.detached { completion(.success(number)) }
            return Request(number)
        }
    }
}

private final class Request: Sendable {
    private let number: Int

    init(_ number: Int) {
        self.number = number
    }

    func cancel() { print("nobody cancels \(number)") }
}

private let calls = Scale.tasks

private func bridged(_ api: API, _ number: Int) async throws -> Int {
    try await withCancellableContinuation { continuation in
        let request = api.load(number) { continuation.resume(with: $0) }
        return { request.cancel() }
    }
}

/// Calls the API with a checked continuation, which does not handle a cancellation: the lower bound of the comparison.
private func checked(_ api: API, _ number: Int) async throws -> Int {
    try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            _ = api.load(number) { continuation.resume(with: $0) }
        }
    } onCancel: {
    }
}

/// Calls the API with a cancellation handler that is written by hand, which remembers a cancellation that comes before the request.
private func boxed(_ api: API, _ number: Int) async throws -> Int {
    let box = Box()
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            box.put(api.load(number) { continuation.resume(with: $0) })
        }
    } onCancel: {
        box.cancel()
    }
}

private final class Box: @unchecked Sendable {
    private let lock = NSLock()
    private var request: Request?
    private var isCancelled = false

    func put(_ request: Request) {
        lock.lock()
        self.request = request
        let isCancelled = isCancelled
        lock.unlock()
        if isCancelled { request.cancel() }
    }

    func cancel() {
        lock.lock()
        isCancelled = true
        let request = request
        lock.unlock()
        request?.cancel()
    }
}

private typealias Call = @Sendable (API, Int) async throws -> Int

private func turns(_ api: API, baseline: @escaping Call, primitive: @escaping Call) async -> Turns {
    await Turns.take(
        operations: calls,
        baseline: { await measure(api, baseline) },
        primitive: { await measure(api, primitive) }
    )
}

@concurrent private func measure(_ api: API, _ call: Call) async -> Duration {
    await ContinuousClock().measure {
        for number in 0..<calls { _ = try? await call(api, number) }
    }
}

private func allocations(
    _ api: API,
    baseline: @escaping Call,
    primitive: @escaping Call
) async -> (baseline: Double, primitive: Double) {
    (
        await Heap.allocations(calls) { _ = await measure(api, baseline) },
        await Heap.allocations(calls) { _ = await measure(api, primitive) }
    )
}
