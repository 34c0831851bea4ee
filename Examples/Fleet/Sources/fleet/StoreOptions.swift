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

    func validate() throws {
        guard etcd != "" else { throw ValidationError("Give --etcd the URL of an endpoint.") }
        if let etcd { _ = try Self.endpoints(etcd) }
    }

    static func endpoints(_ text: String) throws -> [URL] {
        try text.split(separator: ",").map { part in
            guard let url = URL(string: String(part)), let scheme = url.scheme, ["http", "https"].contains(scheme),
                url.host != nil
            else {
                throw ValidationError(
                    "\"\(part)\" is not the URL of an endpoint: give one such as http://127.0.0.1:2379."
                )
            }
            return url
        }
    }

    func makeStore() throws -> any CoordinationStore {
        if let etcd { return EtcdStore(endpoints: try Self.endpoints(etcd), namespace: namespace) }
        guard let file else { throw ValidationError("Give --file or --etcd.") }
        return try SQLiteStore(path: file)
    }

    /// Returns the arguments of a worker with the same store.
    ///
    /// - Parameter folder: The folder for the file of SQLite.
    func arguments(in folder: URL) -> [String] {
        if let etcd { return ["--etcd", etcd, "--namespace", namespace] }
        return ["--file", file ?? folder.appending(path: "fleet.sqlite").path]
    }
}
