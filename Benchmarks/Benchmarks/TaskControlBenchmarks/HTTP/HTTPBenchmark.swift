import Benchmark
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

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = concurrency
        transport = URLSessionTransport(configuration: configuration)
        session = URLSession(configuration: configuration)
    }

    func bare(_ url: URL) async throws -> Int { try await session.data(for: URLRequest(url: url)).0.count }

    func close() async { session.invalidateAndCancel() }
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
