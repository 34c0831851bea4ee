/// A night of the fleet: the tenures of its workers, and the steps that they have written. Pure.
struct Night {
    /// The time for which a worker held the lease.
    struct Tenure: Hashable {
        let worker: String
        let token: Int64
        let start: Duration
        var steps: [Int] = []
        var end: End?

        /// The way in which a tenure has ended.
        enum Reason: Hashable {
            case killed
            case reported(Message.End)
            /// The process has ended without a report.
            case vanished
        }

        /// The end of a tenure.
        struct End: Hashable {
            let time: Duration
            let reason: Reason
        }
    }

    /// An action of the director.
    enum Action: Hashable {
        case reply(Reply, to: String)
        /// Kills a worker, which receives no reply.
        case kill(String)
    }

    /// The number of steps of the job.
    let steps: Int
    /// The runner is killed when this step is written; `nil`: it is not killed.
    let killStep: Int?
    private(set) var ledger = Ledger()
    private(set) var tenures: [Tenure] = []
    private(set) var kill: (worker: String, time: Duration)?
    private(set) var errors: [String] = []

    init(steps: Int, killStep: Int?) {
        (self.steps, self.killStep) = (steps, killStep)
    }

    /// Handles a message of a worker.
    mutating func receive(_ message: Message, from worker: String, at time: Duration) -> Action? {
        switch message {
        case .elected(let token):
            tenures.append(Tenure(worker: worker, token: token, start: time))
            return nil
        case .begin(let token): return .reply(ledger.begin(token), to: worker)
        case .write(let step, let token):
            let reply = ledger.write(step, token)
            guard reply == .accepted else { return .reply(reply, to: worker) }
            change(token) { $0.steps.append(step) }
            guard kill == nil, step == killStep else { return .reply(reply, to: worker) }
            kill = (worker, time)
            change(token) { $0.end = Tenure.End(time: time, reason: .killed) }
            return .kill(worker)
        case .resigned(let token, let reason):
            change(token) { $0.end = $0.end ?? Tenure.End(time: time, reason: .reported(reason)) }
            return nil
        case .failed(let text):
            errors.append("\(worker): \(text)")
            return nil
        }
    }

    /// Records that the process of a worker has ended.
    mutating func ended(_ worker: String, at time: Duration) {
        for index in tenures.indices where tenures[index].worker == worker && tenures[index].end == nil {
            tenures[index].end = Tenure.End(time: time, reason: .vanished)
        }
    }

    private mutating func change(_ token: Int64, _ change: (inout Tenure) -> Void) {
        guard let index = tenures.lastIndex(where: { $0.token == token }) else { return }
        change(&tenures[index])
    }

    /// The time from the kill to the next tenure; `nil`: there was none.
    var takeover: Duration? {
        guard let kill else { return nil }
        return tenures.first { $0.start > kill.time }.map { $0.start - kill.time }
    }
}
