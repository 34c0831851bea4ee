@_spi(Observers) internal import TaskControl
internal import _TaskControlShared

/// Builds a ``TraceModel`` from recorded events, one event after the other: each task or call (subject) becomes a bar.
/// A value without a lock, task or closure.
struct TraceFold {
    private typealias Bar = TraceModel.Bar
    private typealias Mark = TraceModel.Mark

    private enum GroupKey: Hashable {
        case owner(TaskEvent.Identity)
        case calls(TaskEvent.Primitive)
    }

    /// The bar of a task or call (subject), and data that is needed only while events are added.
    private struct Draft {
        var bar: Bar
        /// Whether the task or call (subject) itself, or its creator, has reported an event. A subject about which only
        /// other tasks have reported, perhaps late, is not drawn.
        var isReal = false
        var hasEnded = false
        /// Whether the work of the task or call threw an error, even if its owner has handled the error.
        var hasThrown = false
        /// Whether a task has begun to run the work of this bar.
        var hasWorked = false
        /// The index of the bar on which the task worked before it began to work on this bar; `nil` if there was none.
        /// That bar began earlier. Therefore a chain of bars never forms a circle.
        var outer: Int?
    }

    private var drafts: [Draft] = []
    private var indices: [TaskEvent.Identity: Int] = [:]
    private var groups: [TraceModel.Group] = []
    private var groupIndices: [GroupKey: Int] = [:]
    /// The ranks of the primitives, in the order of their first appearance in the events.
    private var ranks: [TaskEvent.Primitive: Int] = [:]
    /// The index of the innermost bar on which each task is working.
    private var current: [TaskEvent.TaskIdentity: Int] = [:]
    private var earliest = Int64.max
    private var latest = Int64.min

    mutating func add(_ event: TraceRecord) {
        let time = event.time.nanoseconds
        earliest = min(earliest, time)
        latest = max(latest, time)
        appear(event.primitive)
        guard let subject = event.subject else { return addMark(of: event, time) }
        let index = index(of: subject, event, time)
        guard !drafts[index].hasEnded else {
            // Another task has reported the event late. The lifetime of a task is still of interest.
            if event.kind == .boundToLifetime { join(index, event) }
            return
        }
        if event.isOfItself { claim(index, event, time) }
        join(index, event)
        note(index, event)
        if let phase = event.phase { enter(phase, index, event, time) }
        if event.isMark { drafts[index].bar.marks.append(mark(of: event, time, on: index)) }
        if case .ended(let outcome) = event.change { end(index, event, outcome, time) }
    }

    private mutating func appear(_ primitive: TaskEvent.Primitive) {
        if ranks[primitive] == nil { ranks[primitive] = ranks.count }
    }

    private mutating func index(of subject: TaskEvent.Identity, _ event: TraceRecord, _ time: Int64) -> Int {
        if let index = indices[subject] { return index }
        indices[subject] = drafts.count
        drafts.append(Draft(bar: Bar(primitive: event.primitive, subject: subject, begin: time, end: time)))
        return drafts.count - 1
    }

    private mutating func claim(_ index: Int, _ event: TraceRecord, _ time: Int64) {
        if !drafts[index].isReal {
            drafts[index].isReal = true
            drafts[index].bar.primitive = event.primitive
        }
        guard case .began = event.change else { return }
        // Other tasks may have reported events about the subject before.
        drafts[index].bar.begin = min(drafts[index].bar.begin, time)
        drafts[index].bar.beganEarlier = false
        drafts[index].bar.first = event.kind
    }

    /// Adds the bar at `index` to the group of its owner, if `event`, an event of the bar, names the owner. For an
    /// `AsyncTask`, the owner is the lifetime to which the task was bound.
    private mutating func join(_ index: Int, _ event: TraceRecord) {
        guard drafts[index].bar.group < 0, let owner = event.owner else { return }
        let isBound = event.primitive == .asyncTask
        // An event that another task reports before the first event of the subject does not name the subject's owner.
        guard drafts[index].isReal || isBound, event.primitive == drafts[index].bar.primitive else { return }
        let group = group(.owner(owner), isBound ? .asyncLifetime : event.primitive, owner)
        if groups[group].name == nil { groups[group].name = event.ownerName }
        drafts[index].bar.group = group
    }

    private mutating func note(_ index: Int, _ event: TraceRecord) {
        if let name = event.taskName { drafts[index].bar.name = name }
        if let key = event.key { drafts[index].bar.key = key }
        if let error = event.error { drafts[index].bar.error = error }
        if event.isErrorOfWork { drafts[index].hasThrown = true }
        if let detail = event.detail, event.kind != .cancelled { drafts[index].bar.detail = detail }
        if let count = event.count { drafts[index].bar.count = count }
        if let attempt = event.attempt { drafts[index].bar.attempt = attempt }
        if let status = event.status { drafts[index].bar.status = status }
        if let delay = event.delay { drafts[index].bar.delay = delay }
    }

    private mutating func enter(_ phase: TaskEvent.Phase, _ index: Int, _ event: TraceRecord, _ time: Int64) {
        if drafts[index].bar.segments.last?.phase != phase {
            let begin = max(time, drafts[index].bar.segments.last?.begin ?? drafts[index].bar.begin)
            drafts[index].bar.segments.append(TraceModel.Segment(begin: begin, phase: phase))
        }
        if event.isInWorkingTask, let task = event.task {
            let outer = current.updateValue(index, forKey: task)
            // Work that begins again, such as supervised work after a restart, may already be in the chain of its task.
            if !drafts[index].hasWorked { drafts[index].outer = outer }
            drafts[index].hasWorked = true
        }
    }

    private mutating func end(_ index: Int, _ event: TraceRecord, _ outcome: TaskEvent.Outcome, _ time: Int64) {
        drafts[index].hasEnded = true
        drafts[index].bar.last = event.kind
        drafts[index].bar.end = max(time, drafts[index].bar.segments.last?.begin ?? drafts[index].bar.begin)
        drafts[index].bar.age = event.age
        drafts[index].bar.outcome = TraceModel.Outcome(
            outcome,
            isCancelled: event.isCancelled,
            hasThrown: drafts[index].hasThrown
        )
        if let task = event.task, current[task] == index { current[task] = drafts[index].outer }
    }

    // MARK: Marks

    private func mark(of event: TraceRecord, _ time: Int64, on index: Int? = nil) -> Mark {
        var mark = Mark(time: time, kind: event.kind, number: event.attempt ?? event.count)
        // A text that the bar itself shows is not repeated, except that of a note, since a bar can have many notes. The
        // detail of a cancellation is its cause.
        if event.kind.rawValue == "noted" || event.kind == .cancelled {
            mark.text = event.detail
        } else {
            mark.text = event.error ?? (index == nil ? event.key ?? event.detail ?? event.taskName : nil)
        }
        if let by = bar(at: event.task, where: { $0 != index }) { mark.by = by }
        return mark
    }

    /// Returns the index of the innermost bar on which the given task is working and that satisfies a condition; `nil`
    /// if there is none, or if `task` is `nil`.
    ///
    /// - Parameter isIt: The condition for the index of a bar.
    private func bar(at task: TaskEvent.TaskIdentity?, where isIt: (Int) -> Bool) -> Int? {
        var next = task.flatMap { current[$0] }
        while let index = next {
            if !drafts[index].hasEnded, isIt(index) { return index }
            next = drafts[index].outer
        }
        return nil
    }

    /// Adds a mark for an event without a subject, at the given time in nanoseconds. If the event has an owner, the
    /// mark is added to the owner's group. Otherwise it is added to the innermost bar of the same primitive on which
    /// the event's task is working; if there is none, to the group of the primitive's calls.
    private mutating func addMark(of event: TraceRecord, _ time: Int64) {
        if event.owner == nil, let index = bar(at: event.task, where: { drafts[$0].bar.primitive == event.primitive }) {
            drafts[index].bar.error = event.error ?? drafts[index].bar.error
            if event.isErrorOfWork { drafts[index].hasThrown = true }
            drafts[index].bar.marks.append(mark(of: event, time, on: index))
            return
        }
        let group = group(event.owner.map(GroupKey.owner) ?? .calls(event.primitive), event.primitive, event.owner)
        if groups[group].name == nil { groups[group].name = event.ownerName }
        groups[group].marks.append(mark(of: event, time))
    }

    private mutating func group(
        _ key: GroupKey,
        _ primitive: TaskEvent.Primitive,
        _ owner: TaskEvent.Identity?
    ) -> Int {
        if let index = groupIndices[key] { return index }
        appear(primitive)
        groupIndices[key] = groups.count
        groups.append(TraceModel.Group(primitive: primitive, owner: owner))
        return groups.count - 1
    }

    // MARK: The model

    /// Returns the model for all events that were added. Bars of tasks and calls that have not ended extend to `now`
    /// (in nanoseconds on the clock of the events), or to the latest event if `now` is `nil`.
    ///
    /// - Complexity: O(*n* log *n*) in the number of bars.
    mutating func model(now: Int64?) -> TraceModel {
        var model = TraceModel()
        guard earliest <= latest else { return model }
        // Only bars that have not ended extend until now.
        let isAllOver = drafts.allSatisfy { $0.hasEnded || !$0.isReal }
        let last = isAllOver ? latest : max(latest, now ?? latest)
        var members = [[Int]](repeating: [], count: groups.count)
        for index in drafts.indices where drafts[index].isReal {
            if drafts[index].bar.group < 0 {
                let primitive = drafts[index].bar.primitive
                drafts[index].bar.group = group(.calls(primitive), primitive, nil)
                if groups.count > members.count { members.append([]) }
            }
            if !drafts[index].hasEnded { drafts[index].bar.end = max(last, drafts[index].bar.begin) }
            // A bar that began earlier is drawn from the beginning of the recording.
            if drafts[index].bar.beganEarlier { drafts[index].bar.begin = earliest }
            members[drafts[index].bar.group].append(index)
        }
        var places = [Int](repeating: -1, count: drafts.count)
        for old in order(members) {
            members[old].sort { (drafts[$0].bar.begin, $0) < (drafts[$1].bar.begin, $1) }
            let first = model.bars.count
            for index in members[old] {
                places[index] = model.bars.count
                model.bars.append(drafts[index].bar)
                model.bars[model.bars.count - 1].group = model.groups.count
            }
            model.groups.append(groups[old])
            model.groups[model.groups.count - 1].bars = first..<model.bars.count
            model.groups[model.groups.count - 1].laneCount = TraceLanes.assign(&model.bars, first..<model.bars.count)
        }
        model.shift(to: earliest, last, places)
        return model
    }

    /// Returns the indices of the groups that have content, in their order in the trace: groups of tasks before groups
    /// of calls, and then in the order of the first appearance of their primitives and of the groups.
    ///
    /// - Parameter members: For each group, the indices of its bars.
    private func order(_ members: [[Int]]) -> [Int] {
        func rank(_ index: Int) -> (Int, Int, Int) {
            let primitive = groups[index].primitive
            return (primitive.runsInOwnTask ? 0 : 1, ranks[primitive, default: ranks.count], index)
        }
        return groups.indices
            .filter { !members[$0].isEmpty || groups[$0].marks.contains { !$0.isOfAnInstance } }
            .sorted { rank($0) < rank($1) }
    }
}
