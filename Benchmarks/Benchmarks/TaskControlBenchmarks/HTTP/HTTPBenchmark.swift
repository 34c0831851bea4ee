import Benchmark
import Dispatch
import Foundation
import TaskControl
import TaskControlHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
#endif

/// Registers the benchmark of small requests through the client, compared with the same requests through the bare transport. The server is in this
/// process, on a thread of its own, and does almost nothing.
func registerHTTP() {
    register("URLSession", "`session.data(for:)`", atMost: 1.07) { URLSessionSide() }
    register("URLSession, a delegate", "a task with a delegate, by hand", atMost: 1.15) {
        URLSessionSide(delegated: true)
    }
    #if AsyncHTTPClient
    register("AsyncHTTPClient", "`client.execute(_:deadline:)`, collected", atMost: 1.5) { AsyncHTTPClientSide() }
    #endif
}

/// A type that sends requests, in one of both ways.
private protocol Side: Sendable {
    /// Sends a request without this library.
    func bare(_ url: URL) async throws -> Int
    var transport: any HTTPTransport { get }
    func close() async
}

private let requests = Scale.isQuick ? 1_000 : 10_000
private let concurrency = 64

private func register(
    _ name: String,
    _ baseline: String,
    atMost ratio: Double,
    _ makeSide: @escaping @Sendable () -> any Side
) {
    Benchmark.row("HTTP over \(name)") {
        let server = TinyServer()
        let side = makeSide()
        let client = EndpointClient(
            requestAdapter: BaseURLAdapter(baseURL: server.url("")),
            transport: side.transport
        )
        let small = server.url("small")
        var row = Row(
            primitive: "`client.request(endpoint)` over \(name), \(concurrency) at a time",
            baseline: baseline,
            turns: await Turns.take(
                operations: requests,
                baseline: { await measure { try await side.bare(small) } },
                primitive: { await measure { try await client.request(Small(path: "small")).count } }
            )
        )
        row.target = .ratio(atMost: ratio)
        // Requests that wait for the server's answer, at once.
        let held = server.url("held")
        let bare = await weigh(server) { try await side.bare(held) }
        let ours = await weigh(server) { try await client.request(Small(path: "held")).count }
        row.weight = Row.Weight(live: ours.live - bare.live, left: ours.left - bare.left, liveAtMost: 8_192)
        await side.close()
        return row
    }
}

private struct Small: Endpoint {
    typealias Content = Data

    let path: String

    func makeRequest() throws -> URLRequest { get(RequestURL(path)) }
}

@concurrent private func measure(_ call: @escaping @Sendable () async throws -> Int) async -> Duration {
    await ContinuousClock().measure {
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<concurrency {
                group.addTask {
                    for _ in stride(from: worker, to: requests, by: concurrency) {
                        guard let count = try? await call(), count == TinyServer.body.count else {
                            fatalError("The server did not answer as it should.")
                        }
                    }
                }
            }
        }
    }
}

/// Measures the heap bytes per request of requests that wait for their answer, and the bytes per request that remain afterwards: the lowest of four
/// measurements.
@concurrent private func weigh(
    _ server: TinyServer,
    _ call: @escaping @Sendable () async throws -> Int
) async -> (live: Double, left: Double) {
    var least = (live: Int.max, left: Int.max)
    for _ in 0..<4 {
        Heap.start()
        let calls = (0..<concurrency).map { _ in Task { try? await call() } }
        while server.heldCount < concurrency { try? await Task.sleep(for: .milliseconds(1)) }
        let live = await Heap.settledBytes()
        server.release()
        for call in calls { _ = await call.value }
        let left = await Heap.settledBytes()
        _ = Heap.stop()
        least = (min(least.live, live), min(least.left, left))
    }
    return (Double(least.live) / Double(concurrency), Double(least.left) / Double(concurrency))
}

private final class URLSessionSide: Side {
    let transport: any HTTPTransport
    private let session: URLSession
    private let queue = DispatchQueue(label: "delegate by hand")
    private let isDelegated: Bool

    init(delegated isDelegated: Bool = false) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = concurrency
        transport = URLSessionTransport(configuration: configuration)
        self.isDelegated = isDelegated
        if isDelegated { configuration.urlCache = nil }
        session = URLSession(
            configuration: configuration,
            delegate: isDelegated ? Collectors() : nil,
            delegateQueue: isDelegated ? InPlaceQueue() : nil
        )
    }

    func bare(_ url: URL) async throws -> Int {
        guard isDelegated else { return try await session.data(for: URLRequest(url: url)).0.count }
        let collector = Collector()
        return try await withUnsafeThrowingContinuation { continuation in
            collector.continuation = continuation
            // Not on this thread: Foundation blocks it until the session's own queue has made the task.
            queue.async { [session] in
                let task = session.dataTask(with: URLRequest(url: url))
                task.delegate = collector
                task.resume()
            }
        }
    }

    func close() async { session.invalidateAndCancel() }
}

/// Collects one response: what a transport that can be cancelled and read in parts needs at least of a session. Used by one thread after the other.
private final class Collector: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    var continuation: UnsafeContinuation<Int, any Error>?
    private var body = Data()

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { body.append(data) }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error { continuation?.resume(throwing: error) } else { continuation?.resume(returning: body.count) }
    }
}

/// Passes the events of tasks to their delegates, which Foundation on Linux does only for some events.
private final class Collectors: NSObject, URLSessionDataDelegate {
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        (dataTask.delegate as? Collector)?.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        (task.delegate as? Collector)?.urlSession(session, task: task, didCompleteWithError: error)
    }
}

private final class InPlaceQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}

#if AsyncHTTPClient
private final class AsyncHTTPClientSide: Side {
    let transport: any HTTPTransport
    private let client: HTTPClient

    init() {
        var configuration = HTTPClient.Configuration.taskControl
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = concurrency
        transport = AsyncHTTPClientTransport(configuration: configuration)
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func bare(_ url: URL) async throws -> Int {
        let response = try await client.execute(HTTPClientRequest(url: url.absoluteString), deadline: .distantFuture)
        return try await response.body.collect(upTo: 1 << 20).readableBytes
    }

    func close() async { try? await client.shutdown() }
}
#endif
