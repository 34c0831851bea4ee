import TaskControlHTTP
import TaskControlTesting
import TestSupport
import Testing

/// The validation of a 206 that a download has asked for.
@Suite(.timeLimit(.minutes(15)))
struct ContinuationStatusTests: DownloadSuite {
    private struct OnlyOK: Endpoint, URLRequestBuildable {
        typealias Content = Data

        var acceptedStatuses: AcceptedStatuses { [200] }

        func makeRequest() throws -> URLRequest { get("checked") }
    }

    /// Records the heads that it validates.
    private struct Recording: Endpoint, URLRequestBuildable {
        typealias Content = Data

        let heads: OrderRecorder<[String?]>

        func makeRequest() throws -> URLRequest { get("checked") }

        func validate(_ request: URLRequest?, response: HTTPURLResponse, data: Data?) throws {
            let names = ["Content-Length", "Content-Range", "ETag"]
            heads.record([String(response.statusCode)] + names.map { response.value(forHTTPHeaderField: $0) })
        }
    }

    @Test(arguments: [1, 2])
    func anEndpointThatAcceptsOnly200FinishesAContinuation(attempts: Int) async throws {
        try await withFile { file, resumption in
            let client = client(transport(Self.half, Self.rest), attempts: attempts)
            if attempts == 1 {
                await #expect(throws: EndpointError.self) {
                    try await client.download(OnlyOK(), to: file, resuming: resumption)
                }
            }
            let head = try await client.download(OnlyOK(), to: file, resuming: resumption)
            #expect(head.statusCode == 206)
            #expect(try Data(contentsOf: file) == Data("0123456789".utf8))
        }
    }

    @Test func aContinuationIsValidatedAsTheWholeRepresentation() async throws {
        try await withFile { file, _ in
            let heads = OrderRecorder<[String?]>()
            try await client(transport(Self.half, Self.rest), attempts: 2)
                .download(Recording(heads: heads), to: file)
            #expect(heads.events == [["200", "10", nil, "\"a\""], ["200", "10", nil, "\"a\""]])
        }
    }

    @Test func aRangeOfTheEndpointsOwnIsValidatedAs206() async throws {
        struct Part: Endpoint, URLRequestBuildable {
            typealias Content = Data
            var acceptedStatuses: AcceptedStatuses { [200] }
            func makeRequest() throws -> URLRequest { get("part", headers: ["Range": "bytes=4-9"]) }
        }
        try await withFile { file, _ in
            let error = await #expect(throws: EndpointError.self) {
                try await client(transport(Self.rest)).download(Part(), to: file)
            }
            #expect(error?.statusCode == 206)
        }
    }
}
