import Foundation
import TaskControlHTTP
import TaskControlTesting

/// The files and the servers that tests of downloads share.
protocol DownloadSuite {}

extension DownloadSuite {
    /// A transport that answers the requests in turn.
    func transport(_ responses: MockTransport.Response...) -> MockTransport {
        let rest = Locked(responses)
        return MockTransport.responding { _ in
            guard let response = rest.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
                throw Mishap(name: "no more")
            }
            return response
        }
    }

    func client(_ transport: MockTransport, attempts: Int = 1) -> EndpointClient {
        EndpointClient(transport, policies: ClientPolicies(retry: HTTPRetryPolicy(attempts: attempts, backoff: .none)))
    }

    /// A response of 10 bytes that breaks off after 4.
    static var half: MockTransport.Response {
        MockTransport.Response(
            headers: ["Content-Length": "10", "ETag": "\"a\""],
            chunks: [Data("0123".utf8)],
            failure: URLError(.networkConnectionLost)
        )
    }
    static var rest: MockTransport.Response {
        MockTransport.Response(
            206,
            headers: ["Content-Length": "6", "Content-Range": "bytes 4-9/10", "ETag": "\"a\""],
            body: Data("456789".utf8)
        )
    }
    static var other: MockTransport.Response {
        MockTransport.Response(
            headers: ["Content-Length": "5", "ETag": "\"b\""],
            body: Data("other".utf8)
        )
    }

    func ranges(_ transport: MockTransport) -> [String?] {
        transport.requests.map { $0.value(forHTTPHeaderField: "Range") }
    }

    func withFile(_ body: (URL, DownloadResumption) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("taskcontrol-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("book.txt")
        try await body(file, .beside(file))
    }

    func files(beside file: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path).sorted()
    }
}
