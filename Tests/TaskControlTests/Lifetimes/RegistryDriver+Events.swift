@testable import TaskControl

/// What may happen to a registry.
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

        var isWaiting: Bool { self == .aboutToPark || self == .parked }
    }

    enum Drainer: Hashable { case enrolled, parked, left, drained }

    static let behaviors: [TaskStoreDuplicateKeyBehavior] = [
        .cancelPrevious(wait: false), .cancelPrevious(wait: true), .wait, .runConcurrently, .preferPrevious,
        .keepLatest,
        .debounce(for: .seconds(1)),
    ]

    /// All that could come next.
    ///
    /// - Parameter isWide: With those that ask for a handle, cancel through a handle, reserve, and raise priorities.
    func possibleEvents(keys: [String?], maxTasks: Int, maxDrainers: Int = 1, isWide: Bool = false) -> [Event] {
        var events: [Event] = [.cancelAll]
        if !model.isClosed { events.append(.close) }
        if ids.count < maxTasks {
            for key in keys {
                events.append(.insert(key: key))
                if key == nil {
                    events.append(.add(key: nil, .runConcurrently))
                    if isWide { events.append(.reserve) }
                } else {
                    events += Self.behaviors.map { .add(key: key, $0) }
                }
            }
        }
        for key in keys.compactMap({ $0 }) { events.append(.cancelKey(key)) }
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
}
