import Foundation
import NeighborLibrary
import TaskControl
import TaskControlHTTP
import Testing

/// A file that imports the client beside a module with the names of Hummingbird, Vapor, OpenAPIRuntime and Alamofire. No name is qualified.
@Suite(.timeLimit(.minutes(15)))
struct HTTPNamesTests {
    private struct Titles: Endpoint {
        typealias Content = [String]

        func makeRequest() throws -> URLRequest { post("titles", body: EndpointBody.text("all")) }
    }

    /// Every name of the neighbor.
    private struct Neighbors: Client, Authenticator, RequestAdapter {
        func get(_ path: String) async throws -> HTTPBody {
            guard authenticates(path) else { throw HTTPError(status: 404) }
            return "neighbor"
        }

        func authenticates(_ token: String) -> Bool { token == "titles" }
        func adapt(_ path: String) -> String { "titles" }
    }

    /// An adapter of the client.
    private struct Versioned: URLRequestAdapter {
        func adapt(_ request: URLRequest) async throws -> URLRequest {
            try BaseURLAdapter(baseURL: "https://h/v1").adapt(request)
        }
    }

    @Test func bothLibrariesAreUsedInOneFile() async throws {
        let transport = MockTransport { request in
            request.value(forHTTPHeaderField: "Authorization") == "Bearer new"
                ? (200, Data(#"["Emma"]"#.utf8)) : (401, Data())
        }
        let authenticator = EndpointAuthenticator.bearer(initial: "old") { "new" }
        let client: any APIClient = EndpointClient(
            requestAdapter: Versioned(),
            transport: transport,
            policies: ClientPolicies(authenticator: authenticator)
        )
        #expect(try await client.request(Titles()) == ["Emma"])
        #expect(transport.requests.map { $0.url?.path } == ["/v1/titles", "/v1/titles"])

        let neighbor: any Client = Neighbors()
        #expect(try await neighbor.get(Neighbors().adapt("books")).text == "neighbor")
        await #expect(throws: HTTPError(status: 404)) { _ = try await neighbor.get("books") }
    }

    @Test func theErrorsOfBothAreToldApart() async throws {
        let client = EndpointClient(baseURL: "https://h", transport: MockTransport { _ in (404, Data()) })
        let failures: [@Sendable () async throws -> Void] = [
            { _ = try await client.request(Titles()) }, { throw HTTPError(status: 503) },
        ]
        var statuses: [Int?] = []
        for failure in failures {
            do {
                try await failure()
            } catch let error as EndpointError {
                statuses.append(error.statusCode)
            } catch let error as HTTPError {
                statuses.append(error.status)
            }
        }
        #expect(statuses == [404, 503])
    }
}
