import Foundation
import TaskControlHTTP

/// Three members of etcd on loopback ports of their own, which reach each other through a ``PeerProxy``.
final class EtcdCluster {
    private let folder: URL
    private let list: ProcessList
    private let clientPorts: [UInt16]
    private let peerPorts: [UInt16]
    // URLSession on Linux ends the process when etcd answers with an error.
    private let transport = AsyncHTTPClientTransport()
    private var members: [ChildProcess?]
    let proxy: PeerProxy

    var indices: Range<Int> { clientPorts.indices }

    var endpoints: [String] { clientPorts.map { "http://127.0.0.1:\($0)" } }

    /// Starts the members.
    ///
    /// - Parameters:
    ///   - folder: An empty folder for their data.
    ///   - list: The list of the processes that run.
    init(folder: URL, list: ProcessList) throws {
        (self.folder, self.list) = (folder, list)
        clientPorts = try (0..<3).map { _ in try Sockets.freePort() }
        peerPorts = try (0..<3).map { _ in try Sockets.freePort() }
        members = [nil, nil, nil]
        proxy = try PeerProxy(targets: peerPorts)
        do {
            for member in indices { try start(member) }
        } catch {
            end()
            throw error
        }
    }

    /// Starts a member, or starts it again with the data that it has.
    func start(_ member: Int) throws {
        let peers = indices.map { "m\($0)=http://127.0.0.1:\(proxy.ports[$0])" }.joined(separator: ",")
        let process = try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/env"),
            [
                "etcd", "--name", "m\(member)", "--data-dir", folder.appendingPathComponent("m\(member)").path,
                "--listen-client-urls", endpoints[member], "--advertise-client-urls", endpoints[member],
                "--listen-peer-urls", "http://127.0.0.1:\(peerPorts[member])",
                "--initial-advertise-peer-urls", "http://127.0.0.1:\(proxy.ports[member])",
                "--initial-cluster", peers, "--logger", "zap",
            ],
            in: list,
            log: folder.appendingPathComponent("m\(member).\(Record.now).log")
        )
        members[member] = process
        // `env` has become etcd.
        proxy.setProcess(process.number, of: member)
    }

    func signal(_ member: Int, _ signal: Int32) { members[member]?.signal(signal) }

    func kill(_ member: Int) { members[member]?.end() }

    func end() { for member in indices { kill(member) } }

    /// Returns the member that is the leader now; `nil` if no member answers.
    func leader() async -> Int? {
        for member in indices {
            if let status = await status(member), status.header.member_id == status.leader { return member }
        }
        return nil
    }

    /// Waits until the cluster has a leader.
    func waitForLeader(seconds: Int) async throws {
        for _ in 0..<(seconds * 10) {
            if await leader() != nil { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw ClusterError()
    }

    struct ClusterError: Error, CustomStringConvertible {
        var description: String { "The members of etcd have elected no leader: see their logs." }
    }

    private struct Status: Decodable {
        struct Header: Decodable { let member_id: String }
        let header: Header
        let leader: String?
    }

    private func status(_ member: Int) async -> Status? {
        guard members[member]?.isRunning == true else { return nil }
        var request = URLRequest(url: URL(string: endpoints[member] + "/v3/maintenance/status")!)
        request.httpMethod = "POST"
        request.httpBody = Data("{}".utf8)
        let (transport, sent) = (transport, request)
        let answer = try? await withTimeout(.milliseconds(300)) {
            try await transport.withResponse(to: HTTPTransportRequest(sent)) { response in
                var answer = Data()
                for try await part in response.body { answer += part }
                return answer
            }
        }
        return answer.flatMap { try? JSONDecoder().decode(Status.self, from: $0) }
    }
}
