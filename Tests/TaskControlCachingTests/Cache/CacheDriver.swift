import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlCaching

typealias CacheMachine = CacheStateMachine<Int, Int>

/// The rules of a cache, in whole seconds, dictionaries and lists.
struct CacheModel: Hashable {
    struct Value: Hashable {
        let number: Int
        let serial: UInt64
        /// When its load began.
        let start: Int
        var isError = false
    }

    struct Load: Hashable {
        let flight: Int
        let serial: UInt64
        let after: UInt64
        let start: Int
        var isSuperseded = false
    }

    struct Failures: Hashable {
        var count = 0
        var retryTime = 0
    }

    let capacity: Int
    /// After a time to live of 2: stale for 2 more, and for errors for 4.
    let fresh = 2
    let stale = 2
    let fallback = 4
    let errorLifetime: Int
    var now = 0
    var values: [Int: Value] = [:]
    var loads: [Int: Load] = [:]
    var failures: [Int: Failures] = [:]
    var claims: Set<Int> = []
    /// The keys with values, the next candidate for an eviction first.
    var order: [Int] = []
    /// The keys whose values were used since they were stored or passed over by an eviction.
    var used: Set<Int> = []

    func limit(_ value: Value, _ span: Int) -> Int {
        value.start + (value.isError ? errorLifetime : fresh + span)
    }

    mutating func use(_ key: Int) { used.insert(key) }

    mutating func drop(_ key: Int) {
        values[key] = nil
        claims.remove(key)
        used.remove(key)
        order.removeAll { $0 == key }
        if loads[key] == nil { failures[key] = nil }
    }

    /// - Returns: The key that had to make room.
    mutating func store(_ value: Value, _ key: Int) -> Int? {
        drop(key)
        guard now < limit(value, fallback) else { return nil }
        guard capacity > 0 else { return key }
        var evicted: Int?
        if order.count == capacity {
            while used.contains(order[0]) {
                used.remove(order[0])
                order.append(order.removeFirst())
            }
            evicted = order[0]
            drop(order[0])
        }
        values[key] = value
        order.append(key)
        return evicted
    }

    mutating func fail(_ key: Int) {
        var failed = failures[key] ?? Failures()
        failed.count += 1
        let lifetime = values[key].map { $0.isError ? errorLifetime : fresh } ?? 0
        failed.retryTime = now + min(1 << (failed.count - 1), max(1, lifetime))
        failures[key] = failed
    }
}

enum CacheEvent: Hashable {
    case tick
    case read(Int)
    case fresh(Int)
    case start(Int)
    case park(Int)
    case leave(Int)
    case finish(Int, Outcome)
    case update(Int)
    case invalidate(Int)
    case removeAll
    case removeOld

    enum Outcome: Hashable, CaseIterable {
        case value, failure, cancelled
    }
}

/// Plays events to the machine and to the model, and compares what they say. Values are numbers that are used once, and the waiter of a flight is the
/// number of the flight.
struct CacheDriver: MachineDriver {
    enum Phase: Hashable {
        case pending, waiting(isParked: Bool), loading(UInt64), ended
    }

    struct Flight: Hashable {
        let key: Int
        let after: UInt64
        var phase = Phase.pending
    }

    private var machine: CacheMachine
    private(set) var model: CacheModel
    private(set) var flights: [Flight] = []
    private var places: [Int: CacheMachine.Waiters.ID] = [:]
    /// The entry of each flight that has not ended, which keeps it pinned.
    private var pinned: [Int: CacheMachine.Place] = [:]
    private var nextSerial: UInt64 = 1
    private var nextValue = 0
    /// How often each key was written or invalidated: a value of an older version is never seen again.
    private var versions: [Int: Int] = [:]
    private var versionsOfValues: [Int: Int] = [:]
    private var versionsOfFlights: [Int: Int] = [:]

    init(capacity: Int, errorLifetime: Int = 0) {
        machine = CacheMachine(capacity: capacity, retryDelay: .seconds(1))
        model = CacheModel(capacity: capacity, errorLifetime: errorLifetime)
    }

    var signature: Int {
        var hasher = Hasher()
        hasher.combine(model)
        hasher.combine(flights.filter { $0.phase != .ended })
        return hasher.finalize()
    }

    func possibleEvents(keys: Range<Int>, flights most: Int) -> [CacheEvent] {
        var events: [CacheEvent] = [.tick, .removeOld]
        for key in keys {
            events += [.read(key), .update(key), .invalidate(key)]
            if flights.count < most { events.append(.fresh(key)) }
        }
        if !model.values.isEmpty || !model.loads.isEmpty { events.append(.removeAll) }
        for (number, flight) in flights.enumerated() {
            switch flight.phase {
            case .pending: events.append(.start(number))
            case .waiting(let isParked): events += isParked ? [.leave(number)] : [.park(number), .leave(number)]
            case .loading: events += CacheEvent.Outcome.allCases.map { .finish(number, $0) }
            case .ended: break
            }
        }
        return events
    }

    private var now: Duration { .seconds(model.now) }

    mutating func play(_ event: CacheEvent) {
        switch event {
        case .tick: model.now += 1
        case .read(let key): read(key)
        case .fresh(let key):
            let place = machine.pin(key)
            let newest = machine.newest(place)
            _ = machine.unpin(place)
            #expect(newest == max(model.loads[key]?.serial ?? 0, model.values[key]?.serial ?? 0))
            join(key, after: newest)
        case .start(let number): start(number)
        case .park(let number):
            let outcome = machine.park(places[number]!, Word(number))
            #expect(outcome == nil)
            flights[number].phase = .waiting(isParked: true)
        case .leave(let number):
            let wasParked = flights[number].phase == .waiting(isParked: true)
            let waiter = machine.leave(places[number]!, pinned[number]!)
            #expect(waiter?.number == (wasParked ? number : nil))
            if !wasParked { #expect(machine.park(places[number]!, Word(number)) == .left) }
            end(number)
        case .finish(let number, let outcome): finish(number, outcome)
        case .update(let key): update(key)
        case .invalidate(let key):
            let remains = machine.invalidate(key)
            invalidated([key], remains)
        case .removeAll:
            let keys = Set(model.values.keys).union(model.loads.keys)
            let remains = machine.removeAll()
            invalidated(Array(keys), remains)
            #expect(machine.count == 0)
        case .removeOld:
            let old = model.values.filter { model.now - $0.value.start > 2 }
            let remains = machine.removeAll(olderThan: .seconds(2), at: now)
            #expect(remains.values.sorted() == old.values.map(\.number).sorted() && remains.superseded.isEmpty)
            for key in old.keys { model.drop(key) }
        }
        check()
    }

    private func check() {
        machine.checkInvariants()
        #expect(machine.count == model.values.count && machine.loadCount == model.loads.count)
        #expect(machine.waiters.count == flights.count { if case .waiting = $0.phase { true } else { false } })
        let pinnedKeys = flights.filter { $0.phase != .ended }.map(\.key)
        #expect(machine.entries.count == Set(model.values.keys).union(pinnedKeys).count, "nothing else is kept")
        #expect(machine.entries.indexes(of: machine.order).map { machine.entries[$0].key } == model.order)
        let used = machine.entries.indexes(of: machine.order).filter { machine.hits[Int($0)].isUsed }
        #expect(Set(used.map { machine.entries[$0].key }) == model.used)
        for key in 0..<3 {
            let value = model.values[key].flatMap { model.now < model.limit($0, model.stale) ? $0 : nil }
            #expect(machine.peek(key, at: now) == value?.number)
            guard let place = machine.place(of: key) else {
                #expect(model.values[key] == nil)
                continue
            }
            #expect(machine.peek(place, at: now) == value?.number)
            let outlook = machine.outlook(place, after: value?.serial ?? 0, at: now)
            #expect(outlook?.remaining == value.map { .seconds(model.limit($0, model.stale) - model.now) })
            #expect(outlook?.isClaimed == value.map { _ in model.claims.contains(key) })
            let old = model.values[key].flatMap { model.now < model.limit($0, model.fallback) ? $0.number : nil }
            #expect(machine.fallback(place, at: now) == old)
            if let value = model.values[key] {
                #expect(versionsOfValues[value.number] == versions[key, default: 0], "a write or an invalidation wins")
            }
        }
    }

    // MARK: Reading

    private mutating func read(_ key: Int) {
        let value = model.values[key]
        let (load, now) = (model.loads[key], model.now)
        let awaited =
            load.map { $0.isSuperseded ? nil : $0.after } ?? (model.claims.contains(key) ? value?.serial : nil)
        let mayRefresh = load == nil && now >= model.failures[key]?.retryTime ?? 0
        let hit = machine.hit(key, at: self.now)
        #expect((hit != nil) == value.map { now < model.limit($0, 0) } ?? false)
        switch machine.read(key, at: self.now) {
        case .hit(let number):
            #expect(number == value?.number && number == hit && now < model.limit(value!, 0))
            model.use(key)
        case .old(let number, let isStale, let joining):
            #expect(number == value?.number && isStale && now >= model.limit(value!, 0))
            let isThrottled = load == nil && !mayRefresh
            #expect(now < model.limit(value!, model.stale) || isThrottled && now < model.limit(value!, model.fallback))
            #expect(!mayRefresh || model.claims.contains(key), "a refresh that is possible begins")
            #expect(joining == (now < model.limit(value!, model.stale) ? awaited : nil))
            model.use(key)
        case .refresh(let number, let isStale, let after):
            #expect(number == value?.number && isStale && after == value?.serial && mayRefresh)
            #expect(now >= model.limit(value!, 0) && now < model.limit(value!, model.stale))
            let isFirst = model.claims.insert(key).inserted
            #expect(isFirst, "a refresh begins once")
            model.use(key)
            join(key, after: after)
        case .load(let after, let expired):
            let isExpired = value.map { now >= model.limit($0, model.fallback) } ?? false
            #expect(value == nil || now >= model.limit(value!, model.stale))
            #expect(expired?.value == (isExpired ? value?.number : nil))
            let isPinned = flights.contains { $0.key == key && $0.phase != .ended }
            #expect((expired?.key != nil) == (isExpired && !isPinned), "nothing is kept of a key that is gone")
            let serial = isExpired ? 0 : value?.serial ?? 0
            #expect(after == load.map { $0.isSuperseded ? $0.serial : $0.after } ?? serial)
            if isExpired { model.drop(key) } else if value != nil { model.use(key) }
            join(key, after: after)
        }
    }

    /// A caller joins the flight after a load, or begins it: what the table of flights does.
    private mutating func join(_ key: Int, after: UInt64) {
        let isThere = flights.contains { $0.key == key && $0.after == after && $0.phase != .ended }
        if isThere { return }
        pinned[flights.count] = machine.pin(key)
        flights.append(Flight(key: key, after: after))
    }

    private mutating func end(_ number: Int) {
        flights[number].phase = .ended
        let key = machine.unpin(pinned.removeValue(forKey: number)!)
        let isUsed =
            model.values[flights[number].key] != nil
            || flights.contains { $0.key == flights[number].key && $0.phase != .ended }
        #expect(key == (isUsed ? nil : flights[number].key), "the last use of a key gives it back")
    }

    // MARK: Loading

    private mutating func start(_ number: Int) {
        let (key, after) = (flights[number].key, flights[number].after)
        let newer = model.values[key].flatMap {
            $0.serial > after && model.now < model.limit($0, 0) ? $0.number : nil
        }
        model.claims.remove(key)
        switch machine.start(pinned[number]!, after: after, flight: nil, at: now) {
        case .value(let value):
            #expect(value == newer)
            end(number)
        case .wait(let id, _):
            #expect(newer == nil && model.loads[key] != nil)
            places[number] = id
            flights[number].phase = .waiting(isParked: false)
        case .load(let serial):
            #expect(newer == nil && serial == nextSerial)
            #expect(model.loads[key] == nil, "a key has one load at a time")
            nextSerial += 1
            model.loads[key] = .init(flight: number, serial: serial, after: after, start: model.now)
            versionsOfFlights[number] = versions[key, default: 0]
            flights[number].phase = .loading(serial)
        }
    }

    private mutating func finish(_ number: Int, _ outcome: CacheEvent.Outcome) {
        let key = flights[number].key
        guard case .loading(let serial) = flights[number].phase, let load = model.loads[key] else { return }
        let (new, old) = (nextValue, model.values[key]?.number)
        nextValue += 1
        versionsOfValues[new] = versionsOfFlights[number]
        model.loads[key] = nil
        var (evicted, stored, dropped): (Int?, Bool, Int?) = (nil, false, nil)
        if !load.isSuperseded, outcome != .cancelled {
            var value = CacheModel.Value(number: new, serial: serial, start: load.start)
            value.isError = outcome == .failure
            if outcome == .failure { model.fail(key) } else { model.failures[key] = nil }
            let hasFallback = model.values[key].map { model.now < model.limit($0, model.fallback) } ?? false
            if outcome == .value || model.errorLifetime > 0 && !hasFallback {
                dropped = old
                let failures = model.failures[key]
                evicted = model.store(value, key)
                stored = model.values[key]?.number == new
                if stored { model.failures[key] = failures }
            }
        }
        if model.values[key] == nil { model.failures[key] = nil }
        let remains = machine.finish(pinned[number]!, serial, machineOutcome(new, outcome), at: now)
        let waiting = flights.indices.filter {
            if flights[$0].key == key, case .waiting = flights[$0].phase { true } else { false }
        }
        #expect(remains.woken.map(\.number) == waiting.filter { flights[$0].phase == .waiting(isParked: true) })
        for flight in waiting {
            if flights[flight].phase == .waiting(isParked: false) {
                #expect(machine.park(places[flight]!, Word(flight)) == .reached)
            }
            flights[flight].phase = .pending
        }
        #expect(remains.evicted == (evicted.map { [$0] } ?? []))
        #expect(dropped.map { remains.values.contains($0) } ?? true, "a replaced value is released outside the lock")
        #expect((machine.peekSerial(key) == serial) == stored)
        end(number)
    }

    private func machineOutcome(_ number: Int, _ outcome: CacheEvent.Outcome) -> CacheMachine.Outcome {
        switch outcome {
        case .value: .value(number, span)
        case .failure: .failure(number, .init(fresh: .seconds(model.errorLifetime)))
        case .cancelled: .interrupted
        }
    }

    private var span: CacheMachine.Lifespan {
        .init(fresh: .seconds(model.fresh), stale: .seconds(model.stale), fallback: .seconds(model.fallback))
    }

    // MARK: Changing

    private mutating func update(_ key: Int) {
        let (new, old) = (nextValue, model.values[key]?.number)
        nextValue += 1
        versions[key, default: 0] += 1
        versionsOfValues[new] = versions[key]
        let remains = machine.update(key, new, span, at: now)
        expectSuperseded([key], remains)
        model.failures[key] = nil
        let evicted = model.store(.init(number: new, serial: nextSerial, start: model.now), key)
        nextSerial += 1
        #expect(remains.evicted == (evicted.map { [$0] } ?? []))
        #expect(old.map { remains.values.contains($0) } ?? true)
        #expect(machine.peek(key, at: now) == (model.capacity > 0 ? new : nil))
    }

    private mutating func invalidated(_ keys: [Int], _ remains: CacheMachine.Remains) {
        #expect(remains.values.sorted() == keys.compactMap { model.values[$0]?.number }.sorted())
        expectSuperseded(keys, remains)
        for key in keys {
            versions[key, default: 0] += 1
            model.drop(key)
            #expect(machine.hit(key, at: now) == nil)
        }
    }

    private mutating func expectSuperseded(_ keys: [Int], _ remains: CacheMachine.Remains) {
        let running = keys.filter { model.loads[$0]?.isSuperseded == false }.sorted()
        #expect(remains.superseded.map(\.key).sorted() == running)
        for load in remains.superseded { #expect(model.loads[load.key]?.after == load.after) }
        for key in running { model.loads[key]?.isSuperseded = true }
    }
}

extension CacheMachine {
    mutating func hit(_ key: Int, at now: Duration) -> Int? { hit(key, atNanosecond: now.wholeNanoseconds) }

    /// The place of the entry of a key; `nil` if it has none.
    func place(of key: Int) -> Place? {
        entries.index(of: key).map { Place(index: $0, serial: entries[$0].serial) }
    }

    /// Starts the load of a key, as a flight does.
    mutating func start(_ key: Int, after: Serial, at now: Duration) -> Starting {
        start(pin(key), after: after, flight: nil, at: now)
    }

    /// Ends the load of a key that `start(_:after:at:)` has started.
    mutating func finish(_ key: Int, _ serial: Serial, _ outcome: Outcome, at now: Duration) -> Remains {
        let place = place(of: key)!
        defer { _ = unpin(place) }
        return finish(place, serial, outcome, at: now)
    }

    /// The serial of the value of a key.
    fileprivate func peekSerial(_ key: Int) -> Serial? {
        entries.index(of: key).flatMap { bodies[Int($0)].content?.serial }
    }
}
