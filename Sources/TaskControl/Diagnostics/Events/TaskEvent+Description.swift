extension TaskEvent: CustomStringConvertible {
    /// The names of the primitive and the kind of the event, such as `AsyncTask.created`.
    public var name: String { "\(primitive.rawValue).\(kind.rawValue)" }

    /// One line with the ``name`` of the event and the fields that are set, such as
    /// `retry.failed attempt=1 error=ConnectionLost()`.
    ///
    /// The fields have this order: ``ownerName`` (as `name`), ``taskName`` (as `task`), ``key``, ``count``,
    /// ``attempt``, ``status``, ``delay``, ``error``, ``detail``, ``age``, and ``isCancelled`` (as `cancelled`, only if
    /// `true`). Line breaks in their texts are replaced by spaces. Identities, ``sequence`` and ``time`` are not
    /// included.
    public var description: String {
        var line = name
        func add(_ field: String, _ value: (some Any)?) {
            guard let value else { return }
            // A text may contain line breaks, which are replaced by spaces.
            line += " \(field)=" + String(describing: value).split(whereSeparator: \.isNewline).joined(separator: " ")
        }
        add("name", ownerName)
        add("task", taskName)
        add("key", key)
        add("count", count)
        add("attempt", attempt)
        add("status", status)
        add("delay", delay)
        add("error", error)
        add("detail", detail)
        add("age", age)
        if isCancelled { add("cancelled", true) }
        return line
    }
}
