import Foundation

/// A fault of a run, and how long it lasts.
enum Fault: Hashable, Sendable {
    /// A process that holds a lease is stopped.
    case stopHolder(Record.Workload)
    /// A process is killed, and another one takes its place.
    case killWorker
    /// A member is stopped.
    case stopMember(leader: Bool)
    /// A member is killed, and started again.
    case killMember(leader: Bool)
    /// A member and the others do not reach each other.
    case isolate(leader: Bool)
    /// A member is heard by the others, and does not hear them.
    case deafen(leader: Bool)
    /// Two members do not reach each other, and both reach the third.
    case cut

    /// The faults of processes.
    static let ofWorkers: [Fault] = Record.Workload.allCases.map(Fault.stopHolder) + [.killWorker, .killWorker]

    /// The faults of a cluster.
    static let ofMembers: [Fault] =
        [true, false].flatMap { leader -> [Fault] in
            [
                .stopMember(leader: leader), .killMember(leader: leader), .isolate(leader: leader),
                .deafen(leader: leader),
            ]
        } + [.cut]
}
