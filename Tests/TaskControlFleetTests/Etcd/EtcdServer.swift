import Foundation
import TaskControlEtcd
import TaskControlFleet
import TaskControlHTTP

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOSSL
#endif

/// The cluster that `scripts/check-fleet` has started, as environment variables describe it:
///
/// - `TASKCONTROL_ETCD`: the client URLs of its members, separated by commas.
/// - `TASKCONTROL_ETCD_USER`, `TASKCONTROL_ETCD_PASSWORD`: a user of the cluster, if it authenticates; `TASKCONTROL_ETCD_ROOT_PASSWORD`: that of its administrator.
/// - `TASKCONTROL_ETCD_AUTHORITY`: a file with the certificate of its authority, for AsyncHTTPClient.
enum EtcdServer {
    static let endpoints = (variable("TASKCONTROL_ETCD") ?? "").split(separator: ",").compactMap {
        URL(string: String($0))
    }

    /// Whether there is a cluster, and a transport for it: on Linux, one with the trait `AsyncHTTPClient`.
    static var isThere: Bool { !endpoints.isEmpty && !transports.isEmpty }

    static var authenticates: Bool { credentials != nil }

    static var credentials: EtcdStore.Credentials? {
        guard let user = variable("TASKCONTROL_ETCD_USER"), let password = variable("TASKCONTROL_ETCD_PASSWORD") else {
            return nil
        }
        return EtcdStore.Credentials(user: user, password: password, allowsCleartext: true)
    }

    /// The password of the user, and that of the administrator.
    static var passwords: [String] {
        [variable("TASKCONTROL_ETCD_PASSWORD"), variable("TASKCONTROL_ETCD_ROOT_PASSWORD")].compactMap(\.self)
    }

    static var authority: String? { variable("TASKCONTROL_ETCD_AUTHORITY") }

    private static func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    /// The transports of this platform, and of the traits of this build.
    static var transports: [Transport] {
        var transports: [Transport] = []
        #if !canImport(FoundationNetworking)
        transports.append(.urlSession)
        #endif
        #if AsyncHTTPClient
        transports.append(.asyncHTTPClient)
        #endif
        return transports
    }

    enum Transport: Sendable {
        case urlSession, asyncHTTPClient

        /// - Parameter authority: The file with the certificate of an authority; `nil`: the authorities of the machine.
        func make(trusting authority: String? = EtcdServer.authority) -> any HTTPTransport {
            switch self {
            case .urlSession: return URLSessionTransport(configuration: .ephemeral)
            case .asyncHTTPClient:
                #if AsyncHTTPClient
                return AsyncHTTPClientTransport.trusting(authority)
                #else
                return URLSessionTransport(configuration: .ephemeral)
                #endif
            }
        }
    }

    /// Returns a store for the user of the cluster.
    static func store(
        _ transport: Transport,
        credentials: EtcdStore.Credentials? = credentials,
        namespace: String = "taskcontrol/"
    ) -> EtcdStore {
        EtcdStore(endpoints: endpoints, credentials: credentials, namespace: namespace, transport: transport.make())
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

    /// Sets the user's password again, whereby the members forget all tokens of the user. Needs the variable `TASKCONTROL_ETCD_ROOT_PASSWORD`.
    static func invalidateTokens() async throws {
        struct Answer: Decodable { let token: String }
        let password = variable("TASKCONTROL_ETCD_ROOT_PASSWORD") ?? ""
        let login = try await send("auth/authenticate", #"{"name": "root", "password": "\#(password)"}"#)
        let token = try JSONDecoder().decode(Answer.self, from: login).token
        let user = [variable("TASKCONTROL_ETCD_USER"), variable("TASKCONTROL_ETCD_PASSWORD")].map { $0 ?? "" }
        _ = try await send("auth/user/changepw", #"{"name": "\#(user[0])", "password": "\#(user[1])"}"#, token: token)
    }

    private static func send(_ path: String, _ body: String, token: String? = nil) async throws -> Data {
        var request = URLRequest(url: endpoints[0].appendingPathComponent("v3/" + path))
        request.httpMethod = "POST"
        request.httpBody = Data(body.utf8)
        if let token { request.setValue(token, forHTTPHeaderField: "Authorization") }
        return try await transports[0].make().withResponse(to: HTTPTransportRequest(request)) { response in
            var answer = Data()
            for try await part in response.body { answer += part }
            if response.head.statusCode != 200 { throw URLError(.badServerResponse) }
            return answer
        }
    }
}

#if AsyncHTTPClient
extension AsyncHTTPClientTransport {
    /// Returns a transport that trusts an authority.
    ///
    /// - Parameter authority: The file of its certificate; `nil`: the authorities of the machine.
    fileprivate static func trusting(_ authority: String?) -> AsyncHTTPClientTransport {
        var configuration = HTTPClient.Configuration.taskControl
        if let authority {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(authority)
            configuration.tlsConfiguration = tls
        }
        return AsyncHTTPClientTransport(configuration: configuration)
    }
}
#endif
