import Dispatch
import Foundation
import TaskControlHTTP
import TaskControlTesting
import Testing

/// That a caller who is cancelled leaves at once, and the server sees it, over both transports.
@Suite(.timeLimit(.minutes(15)))
struct CancellationTests {
    @Test(arguments: TransportUnderTest.allCases)
    func whoIsCancelledBeforeStartsNothing(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in try connection.respond() }
        let transport = kind.make()
        let start = Gate()
        let task = Task {
            await start.waitIgnoringCancellation()
            return try await transport.fetch(server.url())
        }
        task.cancel()
        start.open()
        #expect(await thrown { try await task.value } is CancellationError)
        // A request that is sent by now has been sent before this one.
        _ = try await transport.fetch(server.url("next"))
        #expect(server.log.now.requests.map(\.target) == ["/next"])
    }

    @Test(arguments: TransportUnderTest.allCases)
    func whileTheServerIsConnectedTo(_ kind: TransportUnderTest) async throws {
        let nobody = try FullListener()
        defer { withExtendedLifetime(nobody) {} }
        let transport = kind.make()
        let url = nobody.url()
        let task = Task { try await transport.fetch(url) }
        task.cancel()
        #expect(await thrown { try await task.value } is CancellationError)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func beforeTheHead(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in connection.waitUntilClosed() }
        let transport = kind.make()
        let task = Task { try await transport.fetch(server.url()) }
        try await server.log.wait { $0.requests.count == 1 }
        task.cancel()
        #expect(await thrown { try await task.value } is CancellationError)
        try await server.log.wait { $0.live == 0 }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func withinTheBody(_ kind: TransportUnderTest) async throws {
        let server = try RawServer.halfway()
        let (transport, reading) = (kind.make(), Gate())
        let task = Task {
            try await transport.withResponse(to: HTTPTransportRequest(URLRequest(url: server.url()))) { response in
                for try await _ in response.body { reading.open() }
            }
        }
        try await reading.wait()
        task.cancel()
        #expect(await thrown { try await task.value } is CancellationError)
        try await server.log.wait { $0.live == 0 }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func whileTheCallerIsBusyElsewhere(_ kind: TransportUnderTest) async throws {
        let server = try RawServer.halfway()
        let (transport, busy, done) = (kind.make(), Gate(), Gate())
        let task = Task {
            try await transport.withResponse(to: HTTPTransportRequest(URLRequest(url: server.url()))) { _ in
                busy.open()
                await done.waitIgnoringCancellation()
            }
        }
        try await busy.wait()
        task.cancel()
        try await server.log.wait { $0.live == 0 }
        done.open()
        // It read nothing, so it missed nothing.
        _ = await thrown { try await task.value }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func withinAnUpload(_ kind: TransportUnderTest) async throws {
        let isCancelled = DispatchSemaphore(value: 0)
        let server = try RawServer { connection, _ in
            // It reads nothing until then: the upload would continue at full speed while the test waits for a thread.
            isCancelled.wait()
            connection.waitUntilClosed()
        }
        let transport = kind.make()
        var request = URLRequest(url: server.url())
        request.httpMethod = "PUT"
        let upload = HTTPTransportRequest(request, body: .stream(length: nil) { PatternStream(1 << 40) })
        let task = Task { try await transport.fetch(upload) }
        try await server.log.wait { $0.requests.count == 1 }
        task.cancel()
        #expect(await thrown { try await task.value } is CancellationError)
        isCancelled.signal()
        try await server.log.wait { $0.live == 0 }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func fromWithinDidSend(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in connection.waitUntilClosed() }
        let transport = kind.make()
        var request = URLRequest(url: server.url())
        request.httpMethod = "PUT"
        let canceller = Canceller()
        let upload = HTTPTransportRequest(request, body: .data(Pattern.data(1 << 20))) { _, _ in canceller.cancel() }
        let start = Gate()
        let task = Task {
            try await start.wait()
            return try await transport.fetch(upload)
        }
        canceller.set(task.cancel)
        start.open()
        #expect(await thrown { try await task.value } is CancellationError)
        try await server.log.wait { $0.live == 0 }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aReaderOfItsOwnMayBeCancelled(_ kind: TransportUnderTest) async throws {
        let server = try RawServer.halfway()
        let transport = kind.make()
        let error = await thrown {
            try await transport.withResponse(to: HTTPTransportRequest(URLRequest(url: server.url()))) { response in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    nonisolated(unsafe) let body = response.body
                    let reading = Gate()
                    group.addTask { for try await _ in body { reading.open() } }
                    try await reading.wait()
                    group.cancelAll()
                    try await group.waitForAll()
                }
            }
        }
        #expect(error is CancellationError)
        try await server.log.wait { $0.live == 0 }
    }
}

/// Cancels what it is given, from anywhere.
final class Canceller: Sendable {
    private let cancellation = Locked<(@Sendable () -> Void)?>(nil)

    func set(_ cancel: @escaping @Sendable () -> Void) { cancellation.withLock { $0 = cancel } }

    func cancel() { cancellation.withLock { $0 }?() }
}
