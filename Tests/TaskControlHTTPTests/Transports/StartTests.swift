import Dispatch
import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlTesting
import Testing

/// That one exchange does not stop the tasks that begin others, over both transports.
@Suite(.timeLimit(.minutes(15)))
struct StartTests {
    /// Sends a body whose stream blocks until the gate is opened, and returns once it does.
    private func blockedUpload(_ kind: TransportUnderTest, _ gate: SyncGate, _ server: RawServer) async throws -> Task<
        Int, any Error
    > {
        let blocks = Gate()
        var request = URLRequest(url: server.url("upload"))
        request.httpMethod = "PUT"
        let body = UploadEndpointBody.stream(length: nil) {
            BlockingStream {
                blocks.open()
                gate.wait()
            }
        }
        let upload = HTTPTransportRequest(request, body: body)
        let transport = kind.make()
        let task = Task { try await transport.fetch(upload).head.statusCode }
        try await blocks.wait()
        return task
    }

    /// The calls begin on more tasks than the process has threads for tasks, so none of these threads may wait for the stream.
    @Test(arguments: TransportUnderTest.allCases)
    func callsCanBeCancelledWhileTheStreamOfAnotherTransportBlocks(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, request in
            try connection.readBody(of: request)
            try connection.respond()
        }
        let (gate, isLate) = (SyncGate(), Locked(false))
        // Ends a test that fails.
        let end = DispatchWorkItem {
            isLate.withLock { $0 = true }
            gate.open()
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + 300, execute: end)
        defer {
            end.cancel()
            gate.open()
        }
        let upload = try await blockedUpload(kind, gate, server)
        let transport = kind.make()
        let calls = (0..<2 * ProcessInfo.processInfo.activeProcessorCount).map { number in
            let hasBegun = Gate()
            let task = Task {
                hasBegun.open()
                return try await transport.fetch(server.url("\(number)"))
            }
            return (task, hasBegun)
        }
        for (task, hasBegun) in calls {
            try await hasBegun.wait()
            task.cancel()
            // Over AsyncHTTPClient, a call may have ended by now.
            if let error = await thrown({ try await task.value }) { #expect(error is CancellationError) }
        }
        #expect(!isLate.withLock { $0 })
        gate.open()
        #expect(try await upload.value == 200)
        #expect(try await transport.fetch(server.url("last")).head.statusCode == 200)
    }

    @MainActor
    @Test(arguments: TransportUnderTest.allCases)
    func theMainActorDoesNotWaitForTheStreamOfAnotherTransport(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, request in
            try connection.readBody(of: request)
            try connection.respond()
        }
        let (gate, isLate) = (SyncGate(), Locked(false))
        let end = DispatchWorkItem {
            isLate.withLock { $0 = true }
            gate.open()
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + 300, execute: end)
        defer {
            end.cancel()
            gate.open()
        }
        let upload = try await blockedUpload(kind, gate, server)
        let transport = kind.make()
        let hasBegun = Gate()
        let call = Task { @MainActor in
            hasBegun.open()
            return try await transport.fetch(server.url("a"))
        }
        try await hasBegun.wait()
        // This task has the main actor, so the call has suspended.
        #expect(!isLate.withLock { $0 })
        gate.open()
        #expect(try await call.value.head.statusCode == 200)
        #expect(try await upload.value == 200)
    }

    /// The transport is released with the last call, whose exchange can then still wait to be started.
    @Test(arguments: TransportUnderTest.allCases)
    func aTransportMayBeReleasedBeforeItsExchangesHaveStarted(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in try connection.respond() }
        for _ in 0..<100 {
            let start = Gate()
            let task = Task {
                await start.waitIgnoringCancellation()
                return try await kind.make().fetch(server.url())
            }
            start.open()
            task.cancel()
            if let error = await thrown({ try await task.value }) { #expect(error is CancellationError) }
        }
        try await server.log.wait { $0.live == 0 }
    }
}

/// A stream that runs a closure before its end.
private final class BlockingStream: InputStream {
    private let block: @Sendable () -> Void

    init(_ block: @escaping @Sendable () -> Void) {
        self.block = block
        super.init(data: Data())
    }

    override func open() {}

    override func close() {}

    override var streamStatus: Stream.Status { .open }

    override var streamError: (any Error)? { nil }

    override var hasBytesAvailable: Bool { true }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        block()
        return 0
    }
}
