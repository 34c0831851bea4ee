import TaskControlHTTP
import Testing

@Suite(.timeLimit(.minutes(15)))
struct AcceptedStatusTests {
    private struct Plain: Endpoint {
        typealias Content = String
        func makeRequest() throws -> URLRequest { URLRequest(url: URL(string: "plain")!) }
    }

    private struct PlainUpload: UploadEndpoint {
        typealias Content = String
        func makeRequest() throws -> (URLRequest, UploadEndpointBody) {
            (URLRequest(url: URL(string: "plain")!), .data(Data()))
        }
    }

    private struct Optional: Endpoint {
        typealias Content = String
        let acceptedStatuses: AcceptedStatuses
        func makeRequest() throws -> URLRequest { URLRequest(url: URL(string: "optional")!) }
    }

    @Test(arguments: [199, 200, 204, 299, 300, 304, 404, 500])
    func aStatusIsValidatedByDefault(_ status: Int) async throws {
        let client = EndpointClient(ScriptedTransport(.status(status, "body")))
        let results = [
            await thrown { try await client.request(Plain()) },
            await thrown { try await client.upload(PlainUpload()) },
            await thrown { try await client.withResponse(to: Plain()) { _ in } },
        ]
        for error in results {
            let error = error as? EndpointError
            #expect(error?.reason == ((200..<300).contains(status) ? nil : .status))
            #expect(error?.statusCode == ((200..<300).contains(status) ? nil : status))
        }
    }

    @Test func anEndpointAcceptsOtherStatuses() async throws {
        func isAccepted(_ status: Int, _ accepted: AcceptedStatuses) async -> Bool {
            let client = EndpointClient(ScriptedTransport(.status(status, "body")))
            return await thrown { try await client.request(Optional(acceptedStatuses: accepted)) } == nil
        }
        #expect(await isAccepted(404, [200, 404]))
        #expect(await !isAccepted(201, [200, 404]))
        #expect(await isAccepted(404, .successful.or(404, 410)))
        #expect(await isAccepted(204, .successful.or(404, 410)))
        #expect(await !isAccepted(500, .successful.or(404, 410)))
        #expect(await isAccepted(302, AcceptedStatuses(200..<400)))
        for status in [200, 404, 500, 999] { #expect(await isAccepted(status, .all)) }
    }
}
