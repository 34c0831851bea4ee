/// The jobs that are on their way to one actor, in the order in which the actor may run them. Pure.
///
/// A default actor runs the job of the highest priority first, and jobs of one priority in the order of their arrival. An arrival is *fixed* if
/// its sender continues after it, as the creator of a task does: all that arrives later is behind it, unless its priority is higher. The
/// arrival of a task that hops is not fixed: the task does nothing after the hop, so that its arrival may be delayed by any number of steps.
/// So an actor has an order only while there are fixed arrivals that have not run.
struct ScheduleArrivals {
    typealias Item = ScheduleStateMachine.Item

    private struct Class {
        let priority: UInt8
        /// The jobs that must not run yet, in the order of their arrival.
        var waiting: [Item] = []
        /// The places of the fixed arrivals that have not run, in the order of their arrival.
        var fixed: [Int] = []
        /// The number of fixed arrivals that overtake all jobs of lower priority.
        var overtaking = 0
    }

    /// By decreasing priority.
    private var classes: [Class] = []

    /// Whether every job may run.
    var isEmpty: Bool { classes.allSatisfy { $0.fixed.isEmpty && $0.waiting.isEmpty } }

    /// A job arrives.
    ///
    /// - Returns: Whether the job may run now. If not, ``run(_:)`` returns it later.
    mutating func arrive(_ item: Item) -> Bool {
        let arrival = item.arrival!
        let index = index(of: arrival.priority)
        let isReady = !isBlocked(item)
        if !isReady { classes[index].waiting.append(item) }
        if arrival.isFixed {
            classes[index].fixed.append(item.place)
            if arrival.overtakes { classes[index].overtaking += 1 }
        }
        return isReady
    }

    /// A job of lower priority than a job that has overtaken it must not run yet.
    mutating func takeBack(_ item: Item) {
        let index = index(of: item.arrival!.priority)
        let position = classes[index].waiting.firstIndex { $0.place > item.place } ?? classes[index].waiting.endIndex
        classes[index].waiting.insert(item, at: position)
    }

    /// A job runs that is a fixed arrival.
    ///
    /// - Returns: The jobs that may run from now on.
    mutating func run(_ item: Item) -> [Item] {
        let arrival = item.arrival!
        let index = index(of: arrival.priority)
        if let position = classes[index].fixed.firstIndex(of: item.place) { classes[index].fixed.remove(at: position) }
        if arrival.overtakes { classes[index].overtaking -= 1 }
        var freed: [Item] = []
        for index in classes.indices {
            let end = classes[index].waiting.firstIndex(where: isBlocked) ?? classes[index].waiting.endIndex
            freed += classes[index].waiting[..<end]
            classes[index].waiting.removeFirst(end)
        }
        return freed
    }

    /// Whether a job is behind a fixed arrival.
    private func isBlocked(_ item: Item) -> Bool {
        for other in classes {
            if other.priority < item.arrival!.priority { return false }
            if let first = other.fixed.first, first < item.place { return true }
            if other.priority > item.arrival!.priority, other.overtaking > 0 { return true }
        }
        return false
    }

    private mutating func index(of priority: UInt8) -> Int {
        let index = classes.firstIndex { $0.priority <= priority } ?? classes.endIndex
        if index == classes.endIndex || classes[index].priority != priority {
            classes.insert(Class(priority: priority), at: index)
        }
        return index
    }
}
