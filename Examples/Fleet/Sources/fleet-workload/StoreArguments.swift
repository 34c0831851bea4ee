import ArgumentParser
import Foundation
import TaskControlEtcd
import TaskControlFleet

/// The store in which the workers meet.
struct StoreArguments: ParsableArguments {
    @Option(help: .hidden)
    var etcd: String?

    @Option(help: ArgumentHelp("Use a file of SQLite instead of a cluster.", valueName: "path"))
    var sqlite: String?

    @Option(help: .hidden)
    var namespace = "workload/"

    func makeStore() throws -> any CoordinationStore {
        if let sqlite { return try SQLiteStore(path: sqlite) }
        let endpoints = (etcd ?? "").split(separator: ",").compactMap { URL(string: String($0)) }
        // Leases of two seconds: an attempt must leave time for others.
        return EtcdStore(
            endpoints: endpoints,
            namespace: namespace,
            attemptTimeout: .milliseconds(400),
            silenceLimit: .seconds(2)
        )
    }

    /// Returns the arguments of another process with the same store.
    ///
    /// - Parameter etcd: The endpoints of the cluster.
    func arguments(etcd: [String]) -> [String] {
        if let sqlite { return ["--sqlite", sqlite] }
        return ["--etcd", etcd.joined(separator: ","), "--namespace", namespace]
    }
}
