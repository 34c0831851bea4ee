@testable import TaskControl

/// The events that are possible for a registry.
extension RegistryDriver {
    enum Event: Hashable {
        case add(key: String?, TaskStoreDuplicateKeyBehavior)
        case reserve
        case insert(key: String?)
        case attach(Int)
        case begin(Int, isCancelled: Bool)
        case park(Int)
        /// The handle of the task is cancelled: by others, or by itself before it has one.
        case cancelHandle(Int)
        case quietTimeEnded(Int, isCancelled: Bool)
        case attachTimer(key: String)
        case intervalEnded(key: String)
        case finish(Int)
        case cancelKey(String)
        case cancelKeys([String])
        case cancelOne(Int)
        case cancelAll
        case cancelNotBegun
        case close
        case beginReserved(Int)
        /// `nil`: of all.
        case enrollDrainer(key: String?)
        case parkDrainer(Int)
        case drainerLeaves(Int)
        case follow(Int)
        case raise(Int, to: UInt8)
        case raiseAll(key: String?, to: UInt8)
        case pause
        case resume
        case moveToFront(String)
        case setPriority(UInt8, key: String)
    }

    /// Where the code of a task is.
    enum Place: Hashable {
        case unstarted, aboutToPark, parked, sleeping, running, done

        var isWaiting: Bool { self == .aboutToPark || self == .parked }
    }

    enum Drainer: Hashable { case enrolled, parked, left, drained }

    static let behaviors: [TaskStoreDuplicateKeyBehavior] = [
        .cancelPrevious(wait: false), .cancelPrevious(wait: true), .wait, .runConcurrently, .preferPrevious,
        .keepLatest,
        .throttle(for: .seconds(2)),
        .debounce(for: .seconds(1)),
        .debounce(for: .seconds(1), then: .keepLatest),
    ]

    /// All tasks, and those of each key.
    private static func scopes(_ keys: [String?]) -> [String?] { [nil] + keys.filter { $0 != nil } }

    /// All that could come next.
    ///
    /// - Parameters:
    ///   - isWide: With those that ask for a handle, cancel through a handle, reserve, raise priorities, and drain one key.
    ///   The registry of these has neither limit nor keys, and is not paused.
    ///   - moves: With pauses, and with changes of the order of those that wait.
    func possibleEvents(
        keys: [String?],
        maxTasks: Int,
        maxDrainers: Int = 1,
        isWide: Bool = false,
        moves: Bool = false
    ) -> [Event] {
        var events: [Event] = [.cancelAll, .cancelNotBegun]
        if moves {
            events.append(model.isPaused ? .resume : .pause)
            for key in keys.compactMap({ $0 }) {
                events += [.moveToFront(key), .setPriority(1, key: key), .setPriority(3, key: key)]
            }
        }
        if !model.isClosed { events.append(.close) }
        if ids.count < maxTasks {
            // A registry with a limit has only tasks with keys that it creates.
            for key in keys {
                if model.limit == nil, !moves { events.append(.insert(key: key)) }
                if key == nil {
                    events.append(.add(key: nil, .runConcurrently))
                    if isWide { events.append(.reserve) }
                } else {
                    events += Self.behaviors.map { .add(key: key, $0) }
                }
            }
        }
        for key in keys.compactMap({ $0 }) { events.append(.cancelKey(key)) }
        if keys.count > 1 { events.append(.cancelKeys(keys.compactMap { $0 })) }
        for (key, number) in model.intervals.sorted(by: { $0.key < $1.key }) where number != nil {
            events.append(.intervalEnded(key: key))
            if isWide, !hasTimer(key) { events.append(.attachTimer(key: key)) }
        }
        for (number, place) in places.enumerated() {
            if !attached.contains(number) { events.append(.attach(number)) }
            events.append(.cancelOne(number))
            if place.isWaiting || isWide && place != .done && attached.contains(number) && !flagged.contains(number) {
                events.append(.cancelHandle(number))
            }
            switch place {
            case .unstarted:
                events.append(.begin(number, isCancelled: flagged.contains(number)))
                if !flagged.contains(number), attached.contains(number) {
                    events.append(.begin(number, isCancelled: true))
                }
            case .aboutToPark: events.append(.park(number))
            case .parked: break
            case .sleeping:
                events.append(.quietTimeEnded(number, isCancelled: flagged.contains(number)))
                if !flagged.contains(number) { events.append(.quietTimeEnded(number, isCancelled: true)) }
            case .running:
                events.append(.finish(number))
                if reserved.contains(number) { events.append(.beginReserved(number)) }
            case .done: break
            }
        }
        if isWide {
            for key in Self.scopes(keys) { events += [.raiseAll(key: key, to: 1), .raiseAll(key: key, to: 2)] }
            for number in places.indices {
                events += [.raise(number, to: 1), .raise(number, to: 2)]
                if followers[number, default: 0] < 2 { events.append(.follow(number)) }
            }
        }
        if drainers.count < maxDrainers {
            let scopes = isWide ? Self.scopes(keys) : [nil]
            events += scopes.map { .enrollDrainer(key: $0) }
        }
        for (number, drainer) in drainers.enumerated() {
            if drainer == .enrolled { events.append(.parkDrainer(number)) }
            if drainer == .enrolled || drainer == .parked { events.append(.drainerLeaves(number)) }
        }
        return events
    }
}

extension TaskStoreDuplicateKeyBehavior {
    /// Whether a task may wait for a time.
    var isTimed: Bool {
        switch kind {
        case .debounce, .throttle: true
        case .cancelPrevious, .wait, .runConcurrently, .preferPrevious, .keepLatest: false
        }
    }
}
