import TaskControl
import TaskControlTesting

@testable import TaskControl

/// An owner of tasks and the naive model of it, side by side in a simulation: each operation is done to both, and whatever can
/// be seen of the owner is compared.
///
/// A simulation has one thread, and an operation is a synchronous call, so the two never run apart by more than what lies
/// between the last word of a body and the moment when its task has left the books: that is what `leaving` allows for.
final class OwnerWorld: Sendable {
    private struct State {
        var model = RegistryModel()
        var next = 0
        /// Tasks that the model has removed, and the owner perhaps not yet.
        var leaving: [Int: String?] = [:]
        var cancels: [Int: @Sendable () -> Void] = [:]
        /// Tasks that were made elsewhere: they start whatever happens.
        var adopted: Set<Int> = []
        var started: Set<Int> = []
        /// Those that have to run.
        var owed: Set<Int> = []
        var running: Set<Int> = []
        /// When the last throttled task of each key has begun.
        var starts: [String: ContinuousClock.Instant] = [:]
    }

    static let interval = Duration.milliseconds(2)

    private let sim: Simulation
    let face: OwnerFace
    private let isTold: Bool
    private let state = Locked(State())

    init(_ sim: Simulation, _ face: OwnerFace, isTold: Bool) {
        self.sim = sim
        self.face = face
        self.isTold = isTold
        state.withLock { $0.model.limit = face.limit }
    }

    private func tell(_ line: @autoclosure () -> String) {
        if isTold { sim.note(line()) }
    }

    /// The work of a body between its first and its last word.
    enum Work: CaseIterable {
        case nothing, yields, sleeps, ignoresCancellation

        func perform() async {
            switch self {
            case .nothing: break
            case .yields: for _ in 0..<2 { await Task.yield() }
            case .sleeps: try? await Task.sleep(for: .milliseconds(3))
            case .ignoresCancellation: await Task.detached { try? await Task.sleep(for: .milliseconds(2)) }.value
            }
        }
    }

    // MARK: Operations

    func add(_ key: String?, _ behavior: TaskStoreDuplicateKeyBehavior, _ work: Work) {
        if case .debounce = behavior.kind, mayHaveReplaced(where: { $0.key == key && $0.afterQuietTime != nil }) {
            return
        }
        let number = takeNumber()
        tell("add \(number) to \(key ?? "it"), \(behavior.kind), \(work)")
        let standing = standing(key, behavior)
        if let key { endInterval(of: key, isOver: !face.hasInterval(key)) }
        switch face.add(key, behavior, body(number, work)) {
        case .started(let cancel):
            sim.expect(!standing.certainly, "a task of that key goes on, so \(number) is not started")
            state.withLock { state in
                // To refuse a task, the model ignores it.
                if state.model.isClosed { return }
                _ = state.model.add(number, key: key, behavior: behavior)
                state.model[number]?.isAttached = true
                state.owed.insert(number)
                state.cancels[number] = cancel
                settle(&state)
            }
        case .existing:
            sim.expect(standing.perhaps, "no task of that key goes on, so \(number) is started")
        }
        check()
    }

    func adopt(_ key: String?, _ work: Work) {
        let number = takeNumber()
        tell("adopt \(number) for \(key ?? "it"), \(work)")
        let standing = standing(key, .preferPrevious)
        state.withLock { _ = $0.adopted.insert(number) }
        let isTaken = face.adopt(key, Task { await body(number, work)() })
        if isTaken {
            sim.expect(!standing.certainly, "a task of that key goes on, so \(number) is not adopted")
            state.withLock { state in
                state.model.tasks.append(.init(number: number, key: key, phase: .running, isAttached: true))
            }
        } else {
            sim.expect(standing.perhaps, "no task of that key goes on, so \(number) is adopted")
        }
        check()
    }

    func cancel(key: String) {
        tell("cancel \(key)")
        face.cancelKey(key)
        state.withLock { state in cancelled(state.model.live(key).map(\.number), &state) }
        check()
    }

    func cancelAll() {
        tell("cancel all")
        face.cancelAll()
        state.withLock { state in cancelled(state.model.tasks.map(\.number), &state) }
        check()
    }

    func close() {
        tell("close")
        face.close()
        state.withLock { state in
            state.model.isClosed = true
            cancelled(state.model.tasks.map(\.number), &state)
        }
        check()
    }

    /// Cancels a task through its own handle. It may count until it has ended.
    func cancelNewest() {
        let newest = state.withLock { state in
            state.cancels.keys.max().flatMap { number in state.cancels[number].map { (number, $0) } }
        }
        guard let (number, cancel) = newest, !mayHaveReplaced(where: { $0.number == number }) else { return }
        tell("cancel \(number) itself")
        cancel()
        state.withLock { state in
            guard let task = state.model[number], task.phase.isLive else { return }
            state.leaving[number] = task.key
            cancelled([number], &state)
        }
        check()
    }

    /// Whether a task that waits for a permit may have cancelled those before it, which the model does not know: if such a task
    /// then ended without having begun, the model would miss them.
    private func mayHaveReplaced(where isMeant: (RegistryModel.Task) -> Bool) -> Bool {
        face.limit != nil && state.withLock { $0.model.tasks.contains { $0.overtakes && isMeant($0) } }
    }

    // MARK: Bodies

    private func body(_ number: Int, _ work: Work) -> @Sendable () async -> Void {
        {
            self.begins(number)
            await work.perform()
            self.ends(number, isCancelled: Task.isCancelled)
        }
    }

    private func begins(_ number: Int) {
        tell("\(number) begins")
        let complaint = state.withLock { state -> String? in
            if !state.started.insert(number).inserted { return "\(number) runs once" }
            state.running.insert(number)
            if let limit = face.limit, state.running.count > limit { return "more than \(limit) run" }
            if state.adopted.contains(number) { return nil }
            // A body says its last word a moment before its task has left the books: until then the model has a permit more, and
            // may have lined others up meanwhile.
            state.model.line.removeAll { $0 == number }
            switch state.model[number]?.phase {
            case .starting: state.model[number]?.phase = .running
            case .queued where state.model[number]?.claims == false: state.model[number]?.phase = .running
            case .quiet:
                let older = state.model.linked(state.model[number]!.key!).prefix { $0.number != number }
                cancelled(older.map(\.number), &state)
                state.model[number]?.phase = .running
            case .throttled, .admitted, .queued:
                let key = state.model[number]!.key!
                let now = ContinuousClock().now
                if let start = state.starts[key], now - start < Self.interval { return "\(number) begins too early" }
                state.starts[key] = now
                let older = state.model.linked(key).prefix { $0.number != number }
                cancelled(older.map(\.number), &state)
                state.model[number]?.phase = .running
                state.model[number]?.claims = false
                state.model.intervals[key] = number
            case .waiting, .leaving: return "\(number) waits for its turn, with \(state.model.tasks)"
            case .running, .cancelled, .skipped, .left, nil:
                return "\(number) was cancelled before it started, and does not start"
            }
            state.owed.remove(number)
            return nil
        }
        sim.expect(complaint == nil, complaint ?? "")
        check()
    }

    private func ends(_ number: Int, isCancelled: Bool) {
        tell("\(number) ends" + (isCancelled ? ", cancelled" : ""))
        let complaint = state.withLock { state -> String? in
            state.running.remove(number)
            guard let task = state.model[number] else { return nil }
            state.model[number] = nil
            state.leaving[number] = task.key
            settle(&state)
            if task.phase == .cancelled, !isCancelled { return "\(number) was cancelled, and knows" }
            // A newer one whose quiet time has ended cancels it a moment before it begins.
            let mayBeOvertaken = task.key.map { state.model.linked($0).contains(where: \.overtakes) } ?? false
            return task.phase == .running && isCancelled && !mayBeOvertaken ? "nobody has cancelled \(number)" : nil
        }
        sim.expect(complaint == nil, complaint ?? "")
        check()
    }

    /// The model does not know the time: whether an interval has ended is what the owner says, but it lasts as long as it must.
    private func endInterval(of key: String, isOver: Bool) {
        let isEarly = state.withLock { state -> Bool in
            guard isOver, case .some(.some) = state.model.intervals[key], let start = state.starts[key] else {
                return false
            }
            state.model.intervals[key] = nil
            _ = state.model.promoteAll()
            return ContinuousClock().now - start < Self.interval
        }
        sim.expect(!isEarly, "the interval of \(key) lasts \(Self.interval)")
    }

    // MARK: Comparing

    private func takeNumber() -> Int {
        state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
    }

    private func cancelled(_ numbers: [Int], _ state: inout State) {
        _ = state.model.cancel(numbers)
        settle(&state)
    }

    /// A skipped task owes nothing, and holds up no other.
    private func settle(_ state: inout State) {
        _ = state.model.promoteAll()
        for task in state.model.tasks where !task.phase.isLive { state.owed.remove(task.number) }
        state.model.tasks.removeAll { $0.phase == .skipped }
    }

    private func standing(
        _ key: String?,
        _ behavior: TaskStoreDuplicateKeyBehavior
    ) -> (certainly: Bool, perhaps: Bool) {
        guard let key, behavior == .preferPrevious else { return (false, false) }
        return state.withLock { state in
            let stands = state.model.standing(for: key) != nil
            return (stands, stands || state.leaving.values.contains(key))
        }
    }

    private func check() {
        let count = face.count()
        let live = face.keys.compactMap { $0 }.filter(face.isLive)
        let complaint = state.withLock { state -> String? in
            let certain = state.model.liveCount
            // Those that one whose time has come may have cancelled: a moment ago, or when it began to wait for a permit.
            let doubtful = state.model.tasks.count { task in
                task.phase.isLive
                    && state.model.live(task.key ?? "").contains { $0.overtakes && $0.number > task.number }
            }
            guard count >= certain - doubtful, count <= certain + state.leaving.count else {
                return "count is \(count), with \(certain) live and \(state.leaving.count) leaving"
            }
            let leavingKeys = Set(state.leaving.values.compactMap { $0 })
            for key in live where !state.model.liveKeys.contains(key) && !leavingKeys.contains(key) {
                return "nothing lives under \(key)"
            }
            for key in state.model.liveKeys where !face.keys.isEmpty && !live.contains(key) { return "\(key) lives" }
            if count == certain - doubtful { state.leaving = [:] }
            return nil
        }
        sim.expect(complaint == nil, complaint ?? "")
    }

    /// All that was to run has run to its end, and the books are empty.
    func comesToRest() async throws {
        while state.withLock({ !$0.owed.isEmpty || !$0.running.isEmpty }) {
            try await Task.sleep(for: .milliseconds(1))
        }
        try await face.drain()
        sim.expect(face.count() == 0, "the books are empty")
    }
}

extension RegistryModel.Task {
    /// Whether a task cancels those before it when it begins.
    fileprivate var overtakes: Bool {
        switch phase {
        case .quiet, .throttled, .admitted: true
        case .queued: replaces
        case .waiting, .leaving, .starting, .running, .cancelled, .skipped, .left: false
        }
    }
}
