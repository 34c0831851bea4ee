/// The jobs that were enqueued on one actor and have not run, and the order in which the actor may run them. A value
/// without side effects.
///
/// A default actor runs the job of the highest priority first, and jobs of one priority in the order of their arrival.
/// An arrival is *fixed* if the code that enqueued the job continues afterwards, as the creator of a task does: a job
/// that arrives later runs after the job of the fixed arrival, unless its priority is higher. The arrival of a task
/// that hops to the actor is not fixed: the task does nothing after the hop, so the schedule may delay its arrival by
/// any number of steps. Therefore the order of an actor's jobs is restricted only while there are fixed arrivals whose
/// jobs have not run.
struct ScheduleArrivals {
    typealias Item = ScheduleStateMachine.Item

    private struct Class {
        let priority: UInt8
        /// The jobs that must not run yet, in the order of their arrival at the actor.
        var waiting: [Item] = []
        /// The places (see `Item.place`) of the fixed arrivals whose jobs have not run, in increasing order.
        var fixed: [Int] = []
        /// The number of fixed arrivals whose jobs have not run, and which overtake all jobs of a lower priority.
        var overtaking = 0
    }

    /// The arrivals of each priority, by decreasing priority.
    private var classes: [Class] = []

    /// Whether the jobs of all fixed arrivals have run. If so, no job has to wait for another job.
    var isEmpty: Bool { classes.allSatisfy { $0.fixed.isEmpty && $0.waiting.isEmpty } }

    /// Notes that a job arrives at the actor.
    ///
    /// - Returns: Whether the job may run now. If not, a later call of ``run(_:)`` returns it.
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

    /// Notes that the given job must not run yet, because a job of a higher priority has overtaken it. A later call of
    /// ``run(_:)`` returns the job.
    mutating func takeBack(_ item: Item) {
        let index = index(of: item.arrival!.priority)
        let position = classes[index].waiting.firstIndex { $0.place > item.place } ?? classes[index].waiting.endIndex
        classes[index].waiting.insert(item, at: position)
    }

    /// Notes that the given job runs now. The arrival of the job must be fixed.
    ///
    /// - Returns: The jobs that had to wait for this job, and may run from now on.
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

    /// Returns whether the job of a fixed arrival must run before the given job.
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
