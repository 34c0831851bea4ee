#if SUBPROCESSES
import Foundation
import TaskControlHTTP
import TestSupport
import Testing

/// That large bodies pass through, and do not pile up. Measured on Linux, where the kernel tells; elsewhere only that they arrive.
///
/// Each in a process of its own, so that only its own memory is measured.
@Suite(.timeLimit(.minutes(15)), .serialized, .tags(.large))
struct MemoryTests {
    private static let count = fullSize(100_000_000, inDebug: 50_000_000)
    /// The growth that is allowed, in bytes.
    private static let bound = 32_000_000

    @Test(.oneProcessAtATime, arguments: TransportUnderTest.allCases, ["file", "stream", "stream of known length"])
    func aLargeUploadNeedsLittle(_ kind: TransportUnderTest, _ source: String) async {
        await #expect(processExitsWith: .success) { [kind = kind as TransportUnderTest, source = source as String] in
            try await Self.upload(kind, source)
        }
    }

    @Test(.oneProcessAtATime, arguments: TransportUnderTest.allCases)
    func aLargeResponseWaitsForItsReader(_ kind: TransportUnderTest) async {
        await #expect(processExitsWith: .success) { [kind = kind as TransportUnderTest] in
            try await Self.download(kind)
        }
    }

    private static func upload(_ kind: TransportUnderTest, _ source: String) async throws {
        let server = try RawServer { connection, request in
            var check = Pattern.Check()
            try connection.readBody(of: request) { check.add($0) }
            try connection.respond(body: Array("\(check.count) \(check.isRight)".utf8))
        }
        let file = source == "file" ? try Pattern.file(count) : nil
        defer { if let file { try? FileManager.default.removeItem(at: file) } }
        var request = URLRequest(url: server.url())
        request.httpMethod = "PUT"
        let body =
            file.map { .file($0) }
            ?? UploadEndpointBody.stream(length: source == "stream" ? nil : Int64(count)) { PatternStream(count) }
        let transport = kind.make()
        let peak = Memory.Peak()
        let answer = try await transport.fetch(HTTPTransportRequest(request, body: body)).body
        #expect(answer == Data("\(count) true".utf8))
        #expect(peak.growth < bound)
    }

    private static func download(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n")
            var place = 0
            while place < count {
                place += try Pattern.withBytes(at: place, count: count - place) {
                    try connection.send($0)
                    return $0.count
                }
            }
        }
        let transport = kind.make()
        let peak = Memory.Peak()
        var check = Pattern.Check()
        try await transport.withResponse(to: HTTPTransportRequest(URLRequest(url: server.url()))) { response in
            for try await part in response.body {
                part.withUnsafeBytes { check.add($0) }
                // A reader that is slower than the receiver.
                for _ in 0..<10_000 {}
            }
        }
        #expect(check.count == count && check.isRight)
        // Foundation on Linux can't hold a response back.
        if kind != .urlSession || URLSessionTransport.isHeldBack { #expect(peak.growth < bound) }
    }
}

/// The memory of the process.
enum Memory {
    /// The most since it was made.
    struct Peak {
        private let before: Int

        init() {
            // Writing this sets the kernel's mark of the most to what there is now (proc(5)).
            try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
            before = Memory.status("VmRSS:")
        }

        /// In bytes; 0 where the kernel does not tell.
        var growth: Int { max(0, Memory.status("VmHWM:") - before) }
    }

    private static func status(_ name: String) -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        let kilobytes = line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first
        return (kilobytes.flatMap { Int($0) } ?? 0) * 1024
    }
}
#endif
