import TestSupport
import Testing

@testable import TaskControl

/// Plays events to the machine and to the model, as the storage would, and compares all that comes back.
///
/// A value: a search copies it and goes on from both copies.
struct RegistryDriver: MachineDriver {
    enum Event: Hashable {
        case add(key: String?, TaskStoreDuplicateKeyBehavior)
        case insert(key: String?)
        case attach(Int)
        case begin(Int, isCancelled: Bool)
        case park(Int)
        case leave(Int)
        case quietTimeEnded(Int, isCancelled: Bool)
        case finish(Int)
        case cancelKey(String)
        case cancelOne(Int)
        case cancelAll
        case close
        case enrollDrainer
        case parkDrainer(Int)
        case drainerLeaves(Int)
        case follow(Int)
        case raise(Int, to: UInt8)
        case raiseAll(to: UInt8)
    }

    /// Where the code of a task is.
    enum Place: Hashable {
        case unstarted, aboutToPark, parked, sleeping, running, done
    }

    enum Drainer: Hashable { case enrolled, parked, left, drained }

    private var machine = RegistryMachine()
    private(set) var model = RegistryModel()
    private var ids: [RegistryMachine.ID] = []
    private(set) var places: [Place] = []
    private var attached: Set<Int> = []
    private var flagged: Set<Int> = []
    private var drainers: [Drainer] = []
    private var drainerIDs: [RegistryMachine.DrainID] = []
    /// What each task's handle has been raised to.
    private var raised: [Int: UInt8] = [:]
    /// How many wait for the handle of each task.
    private var followers: [Int: Int] = [:]

    static let behaviors: [TaskStoreDuplicateKeyBehavior] = [
        .cancelPrevious(wait: false), .cancelPrevious(wait: true), .wait, .runConcurrently, .preferPrevious,
        .keepLatest,
        .debounce(for: .seconds(1)),
    ]

    /// All that could come next.
    ///
    /// - Parameter isWide: With those that ask for a handle, and for priorities.
    func possibleEvents(keys: [String?], maxTasks: Int, maxDrainers: Int = 1, isWide: Bool = false) -> [Event] {
        var events: [Event] = [.cancelAll]
        if !model.isClosed { events.append(.close) }
        if ids.count < maxTasks {
            for key in keys {
                events.append(.insert(key: key))
                if key == nil {
                    events.append(.add(key: nil, .runConcurrently))
                } else {
                    events += Self.behaviors.map { .add(key: key, $0) }
                }
            }
        }
        for key in keys.compactMap({ $0 }) { events.append(.cancelKey(key)) }
        for (number, place) in places.enumerated() {
            if !attached.contains(number) { events.append(.attach(number)) }
            events.append(.cancelOne(number))
            switch place {
            case .unstarted:
                events.append(.begin(number, isCancelled: flagged.contains(number)))
                if !flagged.contains(number), attached.contains(number) {
                    events.append(.begin(number, isCancelled: true))
                }
            case .aboutToPark: events += [.park(number), .leave(number)]
            case .parked: events.append(.leave(number))
            case .sleeping:
                events.append(.quietTimeEnded(number, isCancelled: flagged.contains(number)))
                if !flagged.contains(number) { events.append(.quietTimeEnded(number, isCancelled: true)) }
            case .running: events.append(.finish(number))
            case .done: break
            }
        }
        if isWide {
            events += [.raiseAll(to: 1), .raiseAll(to: 2)]
            for number in places.indices {
                events += [.raise(number, to: 1), .raise(number, to: 2)]
                if followers[number, default: 0] < 2 { events.append(.follow(number)) }
            }
        }
        if drainers.count < maxDrainers { events.append(.enrollDrainer) }
        for (number, drainer) in drainers.enumerated() {
            if drainer == .enrolled { events.append(.parkDrainer(number)) }
            if drainer == .enrolled || drainer == .parked { events.append(.drainerLeaves(number)) }
        }
        return events
    }

    /// Same signature, same future.
    var signature: Int {
        var hasher = Hasher()
        hasher.combine(model.tasks)
        hasher.combine(model.isClosed)
        hasher.combine(places)
        hasher.combine(attached)
        hasher.combine(flagged)
        hasher.combine(drainers)
        hasher.combine(raised)
        hasher.combine(followers)
        return hasher.finalize()
    }

    mutating func play(_ event: Event) {
        machine.retired = []
        model.retired = []
        switch event {
        case .add(let key, let behavior): add(key, behavior)
        case .insert(let key): insert(key)
        case .attach(let number):
            let action = machine.attach(ids[number], job: number)
            #expect(action.isToBeCancelled == model[number].map { !$0.phase.isLive } ?? false)
            #expect(action.raisingTo == model[number]?.raisedTo ?? 0)
            #expect(action.waking == takeFollowers(number))
            raised[number] = action.raisingTo
            model[number]?.isAttached = true
            attached.insert(number)
            if action.isToBeCancelled { wake(flag(number)) }
        case .begin(let number, let isCancelled): begin(number, isCancelled)
        case .park(let number): park(number)
        case .leave(let number):
            flagged.insert(number)
            wake(left(number))
        case .quietTimeEnded(let number, let isCancelled): quietTimeEnded(number, isCancelled)
        case .finish(let number): finish(number)
        case .cancelKey(let key):
            cancelled(machine.cancel(key: key), model.cancel(model.live(key).map(\.number)))
        case .cancelOne(let number):
            let (job, woken) = machine.cancel(ids[number])
            let jobs = model.cancel([number])
            #expect(Set(woken) == model.promoteAll())
            wake(woken)
            cancelled(job.map { [$0] } ?? [], jobs)
        case .cancelAll:
            // In the order of the table, which reuses slots.
            cancelled(machine.cancelAll().sorted(), model.cancel(model.tasks.map(\.number)))
        case .close:
            machine.close()
            model.isClosed = true
        case .enrollDrainer:
            if let id = machine.enrollDrainer() {
                #expect(!model.tasks.isEmpty)
                drainers.append(.enrolled)
                drainerIDs.append(id)
            } else {
                #expect(model.tasks.isEmpty)
            }
        case .parkDrainer(let number):
            #expect(machine.parkDrainer(drainerIDs[number], 1_000 + number) == nil)
            drainers[number] = .parked
        case .drainerLeaves(let number): drainerLeaves(number)
        case .follow(let number): follow(number)
        case .raise(let number, let priority):
            model.raise(before: number, to: priority)
            let jobs = machine.raise(before: ids[number], to: priority)
            #expect(!jobs.contains(number))
            raise(jobs, to: priority)
            if let task = model[number] { raised[number] = max(raised[number, default: 0], task.raisedTo) }
        case .raiseAll(let priority):
            model.raise(model.tasks.map(\.number), to: priority)
            raise(machine.raiseAll(to: priority), to: priority)
        }
        check()
    }

    private func check() {
        machine.checkInvariants()
        #expect(machine.liveCount == model.liveCount)
        #expect(Set(machine.liveKeys) == model.liveKeys)
        let retired = machine.retired.map { Set($0) }
        #expect(retired == Set(model.retired.map { ids[$0] }) && machine.retired?.count == model.retired.count)
        for key in ["a", "b"] { #expect(machine.isLive(key) == model.liveKeys.contains(key)) }
        for (number, id) in ids.enumerated() {
            #expect(machine.phase(of: id) == model[number]?.phase)
            #expect(machine.mayStart(id) == (model[number]?.phase == .running))
        }
        // Who is waited for has been raised, if it is there to be raised.
        for task in model.tasks where task.isAttached { #expect(raised[task.number, default: 0] >= task.raisedTo) }
    }

    // MARK: Events

    private mutating func add(_ key: String?, _ behavior: TaskStoreDuplicateKeyBehavior) {
        let standing = behavior == .preferPrevious ? key.flatMap(model.standing(for:)) : nil
        let action: RegistryMachine.AddAction
        if let key {
            action = machine.add(key: key, behavior: behavior)
        } else {
            action = machine.add().map { .added($0, mustBegin: false, nil) } ?? .refused
        }
        switch action {
        case .added(let id, let mustBegin, let effects):
            #expect(!model.isClosed && standing == nil)
            let number = ids.count
            ids.append(id)
            let (jobs, woken) = model.add(number, key: key, behavior: behavior)
            places.append(model[number]?.phase == .running ? .running : .unstarted)
            #expect(mustBegin == (places[number] == .unstarted))
            #expect(Set(effects?.waking ?? []) == woken)
            wake(effects?.waking ?? [])
            cancelled(effects?.cancelling ?? [], jobs)
        case .existing(let existing):
            #expect(!model.isClosed && existing.id == standing.map { ids[$0] })
            #expect(existing.job == standing.flatMap { attached.contains($0) ? $0 : nil })
        case .refused:
            #expect(model.isClosed)
        }
    }

    private mutating func insert(_ key: String?) {
        let standing = key.flatMap(model.standing(for:))
        let number = ids.count
        switch machine.insert(number, key: key) {
        case .inserted(let id):
            #expect(!model.isClosed && standing == nil)
            ids.append(id)
            model.tasks.append(.init(number: number, key: key, phase: .running, isAttached: true))
            attached.insert(number)
            places.append(.running)
        case .existing(let existing): #expect(!model.isClosed && existing.id == standing.map { ids[$0] })
        case .refused: #expect(model.isClosed)
        }
    }

    private mutating func follow(_ number: Int) {
        let isParked = machine.follow(ids[number], Self.follower(of: number))
        #expect(isParked == (model[number]?.isAttached == false))
        if isParked { followers[number, default: 0] += 1 }
        #expect(machine.job(of: ids[number]) == (model[number]?.isAttached == true ? number : nil))
    }

    private static func follower(of number: Int) -> Int { 2_000 + number }

    private mutating func takeFollowers(_ number: Int) -> [Int] {
        Array(repeating: Self.follower(of: number), count: followers.removeValue(forKey: number) ?? 0)
    }

    /// Nobody is raised twice to the same, or to less.
    private mutating func raise(_ jobs: [Int], to priority: UInt8) {
        for job in jobs {
            #expect(raised[job, default: 0] < priority)
            raised[job] = priority
        }
    }

    private mutating func begin(_ number: Int, _ isCancelled: Bool) {
        if isCancelled { flagged.insert(number) }
        let phase = model[number]?.phase
        switch machine.begin(ids[number], isCancelled: isCancelled) {
        case .run:
            #expect(phase == .ready && !isCancelled)
            model[number]?.phase = .running
            places[number] = .running
        case .wait:
            #expect(phase == .waiting && !isCancelled)
            places[number] = .aboutToPark
        case .quiet(let quietTime):
            #expect(phase == .quiet && !isCancelled && quietTime == .seconds(1))
            places[number] = .sleeping
        case .skip(let waking):
            #expect(phase == .skipped || phase == .left || isCancelled)
            skipped(number, waking)
        }
    }

    private mutating func park(_ number: Int) {
        if machine.park(ids[number], number) {
            #expect(model[number]?.phase == .waiting)
            model[number]?.isParked = true
            places[number] = .parked
        } else {
            #expect(model[number]?.phase != .waiting)
            places[number] = .unstarted
        }
    }

    private mutating func quietTimeEnded(_ number: Int, _ isCancelled: Bool) {
        let phase = model[number]?.phase
        switch machine.quietTimeEnded(ids[number], isCancelled: isCancelled) {
        case .run(let cancelling):
            #expect(phase == .quiet && !isCancelled)
            let older = model.linked(model[number]!.key!).prefix { $0.number != number }
            let jobs = model.cancel(older.map(\.number))
            model[number]?.phase = .running
            places[number] = .running
            cancelled(cancelling, jobs)
        case .skip(let waking):
            #expect(phase == .skipped || isCancelled)
            skipped(number, waking)
        }
    }

    private mutating func skipped(_ number: Int, _ waking: [Int]) {
        model.skip(number)
        #expect(Set(waking) == model.promoteAll())
        wake(waking)
        finish(number)
    }

    private mutating func finish(_ number: Int) {
        places[number] = .done
        let action = machine.finish(ids[number])
        #expect(action.entry?.job == (attached.contains(number) ? number : nil))
        model[number] = nil
        var woken = model.promoteAll()
        if model.tasks.isEmpty {
            for (number, drainer) in drainers.enumerated() where drainer == .parked {
                drainers[number] = .drained
                woken.insert(1_000 + number)
            }
            // Those about to park are told when they do.
            for (number, drainer) in drainers.enumerated() where drainer == .enrolled {
                drainers[number] = .drained
                #expect(machine.parkDrainer(drainerIDs[number], 1_000 + number) == .reached)
            }
        }
        let following = takeFollowers(number)
        #expect(action.waking.filter { $0 >= 2_000 } == following)
        #expect(Set(action.waking) == woken.union(following))
        wake(action.waking.filter { $0 < 1_000 })
        // A late report finds nothing.
        #expect(machine.finish(ids[number]).entry == nil)
    }

    private mutating func drainerLeaves(_ number: Int) {
        let waiter = machine.drainerLeaves(drainerIDs[number])
        #expect(waiter == (drainers[number] == .parked ? 1_000 + number : nil))
        if drainers[number] == .enrolled {
            #expect(machine.parkDrainer(drainerIDs[number], 1_000 + number) == .left)
        }
        #expect(machine.drainerLeaves(drainerIDs[number]) == nil)
        drainers[number] = .left
    }

    // MARK: Effects, as the storage has them

    /// Whoever is woken begins again.
    private mutating func wake(_ waiters: [Int]) {
        for number in waiters {
            #expect(places[number] == .parked)
            places[number] = .unstarted
        }
    }

    private mutating func cancelled(_ jobs: [Int], _ expected: [Int]) {
        #expect(jobs == expected, "the oldest task is cancelled first")
        for job in jobs { wake(flag(job)) }
    }

    /// The job is cancelled: a task that is parked, or about to be, is told by its handler.
    private mutating func flag(_ number: Int) -> [Int] {
        flagged.insert(number)
        guard places[number] == .parked || places[number] == .aboutToPark else { return [] }
        return left(number)
    }

    private mutating func left(_ number: Int) -> [Int] {
        let wasParked = places[number] == .parked
        let woken = machine.leave(ids[number]).map { [$0] } ?? []
        var expected = Set<Int>()
        model.leave(number)
        if wasParked {
            expected.insert(number)
            model[number]?.isParked = false
        }
        expected.formUnion(model.promoteAll())
        #expect(Set(woken) == expected)
        return woken
    }
}

extension TaskStoreDuplicateKeyBehavior {
    var isDebounce: Bool {
        if case .debounce = kind { true } else { false }
    }
}
