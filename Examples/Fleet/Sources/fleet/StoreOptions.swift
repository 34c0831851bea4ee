import ArgumentParser
import Foundation
import TaskControlEtcd
import TaskControlFleet

/// The store in which the workers meet.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The endpoints of an etcd cluster, separated by commas. Without it, the store is a file of SQLite.",
            valueName: "url,url"
        )
    )
    var etcd: String?

    @Option(help: .hidden)
    var namespace: String = "taskcontrol-fleet-\(UUID().uuidString)/"

    @Option(help: .hidden)
    var file: String?

    func validate() throws { if let etcd { _ = try Self.endpoints(etcd) } }

    private static func endpoints(_ text: String) throws -> [URL] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            guard let url = URL(string: String(part)), ["http", "https"].contains(url.scheme), url.host != nil else {
                throw ValidationError("\"\(part)\" is not the URL of an endpoint, such as http://127.0.0.1:2379.")
            }
            return url
        }
    }

    func makeStore() throws -> any CoordinationStore {
        if let etcd { return EtcdStore(endpoints: try Self.endpoints(etcd), namespace: namespace) }
        guard let file else { throw ValidationError("Give --file or --etcd.") }
        return try SQLiteStore(path: file)
    }

    /// The arguments of a worker with the same store.
    var arguments: [String] {
        etcd.map { ["--etcd", $0, "--namespace", namespace] } ?? ["--file", file ?? ""]
    }
}
