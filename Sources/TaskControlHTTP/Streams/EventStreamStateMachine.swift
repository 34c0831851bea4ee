/// A parser that creates server-sent events from the lines of an event stream (WHATWG HTML, 9.2.6).
struct EventStreamStateMachine {
    /// The error for an event whose data is longer than the limit.
    struct EventTooLong: Error, Hashable {}

    /// The values with which a client connects again.
    struct Resumption: Hashable {
        /// The last ID of a complete block; `nil` if there is none, or if it is empty.
        var id: String?
        /// The delay that the stream has last requested; `nil` if it has requested none.
        var retry: Duration?
    }

    /// The values with which a client connects again. A block without data changes them too: an ID counts from the end of
    /// its block on, and a delay at once.
    private(set) var resumption = Resumption()
    private var data: [UInt8] = []
    private var type = ""
    /// The last ID that the stream contained, also in a block that is incomplete. It is the ID of later events that have
    /// none.
    private var id = ""
    private var isAtBeginning = true
    private let limit: Int

    /// Creates the state for the beginning of a stream.
    ///
    /// - Parameter limit: The longest data of an event, in bytes; `nil`: no limit.
    init(limit: Int?) {
        self.limit = limit ?? .max
    }

    /// Reads a line of the stream.
    ///
    /// - Parameter line: The line, without its line break.
    /// - Returns: The event that the line completes; `nil` if it completes none.
    /// - Throws: ``EventTooLong`` if the data of the event exceeds the limit.
    mutating func receive(_ line: [UInt8]) throws(EventTooLong) -> ServerSentEvent? {
        var line = line[...]
        if isAtBeginning, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        isAtBeginning = false
        guard let first = line.first else { return dispatch() }
        let colon = UInt8(ascii: ":")
        if first == colon { return nil }
        let name = line.prefix { $0 != colon }
        var value = line.dropFirst(name.count + 1)
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        try set(String(decoding: name, as: UTF8.self), value)
        return nil
    }

    private mutating func set(_ name: String, _ value: ArraySlice<UInt8>) throws(EventTooLong) {
        switch name {
        case "data":
            guard data.count + value.count <= limit else { throw EventTooLong() }
            data += value
            data.append(UInt8(ascii: "\n"))
        case "event": type = String(decoding: value, as: UTF8.self)
        case "id" where !value.contains(0): id = String(decoding: value, as: UTF8.self)
        case "retry":
            let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
            guard !value.isEmpty, value.allSatisfy(digits.contains) else { break }
            // A number that is too large for `Int64`, or longer than a hundred years, counts as a hundred years.
            let longest: Int64 = 3_155_760_000_000
            resumption.retry = .milliseconds(min(Int64(String(decoding: value, as: UTF8.self)) ?? longest, longest))
        default: break
        }
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer { (data, type) = ([], "") }
        resumption.id = id.isEmpty ? nil : id
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type,
            // Without the line feed of its last line.
            data: String(decoding: data.dropLast(), as: UTF8.self),
            id: resumption.id,
            retry: resumption.retry
        )
    }
}
