import Foundation
import TaskControlFleet
import TaskControlHTTP

/// The cluster that `scripts/check-fleet` has started, as environment variables describe it:
///
/// - `TASKCONTROL_ETCD`: the client URLs of its members, separated by commas.
/// - `TASKCONTROL_ETCD_USER`, `TASKCONTROL_ETCD_PASSWORD`: a user of the cluster, if it authenticates; `TASKCONTROL_ETCD_ROOT_PASSWORD`: that of its administrator.
/// - `TASKCONTROL_ETCD_AUTHORITY`: a file with the certificate of its authority, for AsyncHTTPClient.
enum EtcdServer {
    static let endpoints = (variable("TASKCONTROL_ETCD") ?? "").split(separator: ",").compactMap {
        URL(string: String($0))
    }

    static var isThere: Bool { !endpoints.isEmpty }

    static var authenticates: Bool { credentials != nil }

    static var credentials: EtcdCredentials? {
        guard let user = variable("TASKCONTROL_ETCD_USER"), let password = variable("TASKCONTROL_ETCD_PASSWORD") else {
            return nil
        }
        return EtcdCredentials(user: user, password: password)
    }

    static var authority: String? { variable("TASKCONTROL_ETCD_AUTHORITY") }

    private static func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    /// Returns a store in a namespace of its own, or in the one that the user may use.
    static func store(
        transport: any HTTPTransport = URLSessionTransport(configuration: .ephemeral),
        attemptTimeout: Duration = .seconds(2),
        silenceLimit: Duration = .seconds(10)
    ) -> EtcdStore {
        EtcdStore(
            endpoints: endpoints,
            credentials: credentials,
            transport: transport,
            attemptTimeout: attemptTimeout,
            silenceLimit: silenceLimit
        )
    }

    /// Lets the cluster forget the history before the present.
    static func compact() async throws {
        struct Answer: Decodable {
            struct Header: Decodable { let revision: String }
            let header: Header
        }
        let answer = try await JSONDecoder().decode(Answer.self, from: send("kv/range", #"{"key": "YQ=="}"#))
        _ = try await send("kv/compaction", #"{"revision": "\#(answer.header.revision)", "physical": true}"#)
    }

    /// Changes the rules of authentication, whereby the members forget all tokens. Needs the variable `TASKCONTROL_ETCD_ROOT_PASSWORD`.
    static func invalidateTokens() async throws {
        struct Answer: Decodable { let token: String }
        let password = variable("TASKCONTROL_ETCD_ROOT_PASSWORD") ?? ""
        let login = try await send("auth/authenticate", #"{"name": "root", "password": "\#(password)"}"#)
        let token = try JSONDecoder().decode(Answer.self, from: login).token
        _ = try await send("auth/role/add", #"{"name": "\#(UUID())"}"#, token: token)
    }

    private static func send(_ path: String, _ body: String, token: String? = nil) async throws -> Data {
        var request = URLRequest(url: endpoints[0].appendingPathComponent("v3/" + path))
        request.httpMethod = "POST"
        request.httpBody = Data(body.utf8)
        if let token { request.setValue(token, forHTTPHeaderField: "Authorization") }
        let transport = URLSessionTransport(configuration: .ephemeral)
        return try await transport.withResponse(to: HTTPTransportRequest(request)) { response in
            var answer = Data()
            for try await part in response.body { answer += part }
            if response.head.statusCode != 200 { throw URLError(.badServerResponse) }
            return answer
        }
    }
}
