import Foundation

/// A fault of a run.
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

    /// The kind under which a fault is counted.
    enum Kind: String, Hashable, Sendable, CaseIterable {
        case stoppedHolder = "stopped holder"
        case killedWorker = "killed worker"
        case stoppedLeader = "stopped leader"
        case stoppedMember = "stopped member"
        case killedLeader = "killed leader"
        case killedMember = "killed member"
        case isolatedLeader = "isolated leader"
        case isolatedMember = "isolated member"
        case deafenedLeader = "deafened leader"
        case deafenedMember = "deafened member"
        case cutLink = "cut link"
    }

    var kind: Kind {
        switch self {
        case .stopHolder: .stoppedHolder
        case .killWorker: .killedWorker
        case .stopMember(let leader): leader ? .stoppedLeader : .stoppedMember
        case .killMember(let leader): leader ? .killedLeader : .killedMember
        case .isolate(let leader): leader ? .isolatedLeader : .isolatedMember
        case .deafen(let leader): leader ? .deafenedLeader : .deafenedMember
        case .cut: .cutLink
        }
    }

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

    /// Returns faults in a random order, in which one of each kind comes before the second one of any kind.
    static func line(of faults: [Fault], using random: inout some RandomNumberGenerator) -> [Fault] {
        var (first, later, kinds) = ([Fault](), [Fault](), Set<Kind>())
        for fault in faults.shuffled(using: &random) {
            if kinds.insert(fault.kind).inserted { first.append(fault) } else { later.append(fault) }
        }
        return first + later
    }
}
