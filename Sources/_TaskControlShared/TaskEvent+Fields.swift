public import TaskControl

extension TaskEvent {
    /// The value of one detail of an event, such as the event's key or delay.
    public enum Field {
        case text(String)
        case number(Int)
        case duration(Duration)
        case flag(Bool)
    }

    /// Calls a closure with the name and the value of each field that has a value.
    public func forEachField(_ body: (_ name: String, _ field: Field) -> Void) {
        if let owner { body("owner", .text(owner.description)) }
        if let subject { body("subject", .text(subject.description)) }
        if let ownerName { body("ownerName", .text(ownerName)) }
        if let taskName { body("taskName", .text(taskName)) }
        if let key { body("key", .text(key)) }
        if let count { body("count", .number(count)) }
        if let attempt { body("attempt", .number(attempt)) }
        if let status { body("status", .number(status)) }
        if let delay { body("delay", .duration(delay)) }
        if let error { body("error", .text(error)) }
        if let detail { body("detail", .text(detail)) }
        if let age { body("age", .duration(age)) }
        if isCancelled { body("isCancelled", .flag(true)) }
    }
}
