@_spi(Observers) internal import TaskControl
internal import _TaskControlShared

/// A buffer of the latest events, divided into chunks. When the buffer is full, the oldest chunk is dropped. A value
/// without a lock, task or closure.
///
/// Copying the buffer copies one reference per chunk. While a copy exists, recording copies only the chunk that it changes.
struct TraceRing {
    typealias Chunk = [TraceRecord]

    /// The latest events, and the number of older events that were dropped.
    struct Copy: Sendable {
        fileprivate(set) var chunks: [ArraySlice<TraceRecord>] = []
        fileprivate(set) var lost = 0

        var count: Int { chunks.reduce(0) { $0 + $1.count } }
    }

    let capacity: Int
    private let chunkSize: Int
    /// The maximum number of chunks. It is large enough that ``capacity`` events are kept even if the newest chunk has
    /// only one event.
    private let chunkLimit: Int
    private var chunks: [Chunk] = []
    /// The index in ``chunks`` of the chunk to which the next event is added.
    private var newest = 0
    /// The number of events that were ever added.
    private(set) var count = 0

    /// Creates an empty ring.
    ///
    /// - Parameters:
    ///   - capacity: The minimum number of the latest events that are kept: 1 or more.
    ///   - chunkSize: The number of events per chunk. It is limited to `capacity`.
    init(capacity: Int, chunkSize: Int = 256) {
        self.capacity = capacity
        self.chunkSize = min(chunkSize, capacity)
        let (chunkCount, rest) = (capacity - 1).quotientAndRemainder(dividingBy: self.chunkSize)
        chunkLimit = chunkCount + (rest == 0 ? 1 : 2)
    }

    /// Adds an event. If the buffer is full, drops the oldest chunk with all its events.
    ///
    /// - Returns: The dropped chunk, which the caller should release only after it has unlocked the buffer; `nil` if no
    ///   chunk was dropped.
    /// - Complexity: O(1). Memory is allocated once per chunk.
    @inline(__always)
    mutating func append(_ event: consuming TraceRecord) -> Chunk? {
        count += 1
        if !chunks.isEmpty, chunks[newest].count < chunkSize {
            chunks[newest].append(event)
            return nil
        }
        var chunk = Chunk()
        chunk.reserveCapacity(chunkSize)
        chunk.append(event)
        if chunks.count < chunkLimit {
            newest = chunks.count
            chunks.append(chunk)
            return nil
        }
        newest = (newest + 1) % chunkLimit
        swap(&chunks[newest], &chunk)
        return chunk
    }

    /// Removes all events.
    ///
    /// - Returns: All chunks, which the caller should release only after it has unlocked the buffer.
    mutating func removeAll() -> [Chunk] {
        let all = chunks
        self = TraceRing(capacity: capacity, chunkSize: chunkSize)
        return all
    }

    /// The latest ``capacity`` events, oldest first. Read this property on a copy of the buffer, after unlocking the
    /// original.
    ///
    /// - Complexity: O(*n*) in the number of chunks.
    var latest: Copy {
        var copy = Copy()
        var excess = chunks.reduce(0) { $0 + $1.count } - capacity
        for offset in chunks.indices {
            let chunk = chunks[(newest + 1 + offset) % chunks.count]
            let left = chunk.dropFirst(max(0, excess))
            excess -= chunk.count - left.count
            if !left.isEmpty { copy.chunks.append(left) }
        }
        copy.lost = count - copy.count
        return copy
    }
}

/// The fields of an event that a trace keeps. Texts longer than 512 bytes are shortened.
struct TraceRecord: Sendable {
    let primitive: TaskEvent.Primitive
    let kind: TaskEvent.Kind
    let owner: TaskEvent.Identity?
    let subject: TaskEvent.Identity?
    let task: TaskEvent.TaskIdentity?
    let change: TaskEvent.Change
    let isCancelled: Bool
    let ownerName: String?
    let taskName: String?
    let key: String?
    let error: String?
    let detail: String?
    let time: Duration
    let count: Int?
    let attempt: Int?
    let status: Int?
    /// The delay before the next attempt of a retry, in nanoseconds; `nil` if the event has none.
    let delay: Int64?
    let age: Int64?

    @inline(__always)
    init(_ event: TaskEvent) {
        primitive = event.primitive
        kind = event.kind
        owner = event.owner
        subject = event.subject
        task = event.task
        change = event.change
        isCancelled = event.isCancelled
        ownerName = Self.clip(event.ownerName)
        taskName = Self.clip(event.taskName)
        key = Self.clip(event.key)
        error = Self.clip(event.error)
        detail = Self.clip(event.detail)
        time = event.time
        count = event.count
        attempt = event.attempt
        status = event.status
        delay = event.delay?.nanoseconds
        age = event.age?.nanoseconds
    }

    private static var textLimit: Int { 512 }

    @inline(__always)
    private static func clip(_ text: String?) -> String? {
        guard let text, text.utf8.count > textLimit else { return text }
        return clipped(text)
    }

    @inline(never)
    private static func clipped(_ text: String) -> String {
        // A copy, since a slice would keep the whole text. A character that is cut is shown as a replacement character.
        String(decoding: text.utf8.prefix(textLimit), as: UTF8.self) + "…"
    }
}

extension TraceRecord {
    /// The phase that the task or call (subject) enters with the event; `nil` if the event does not change the phase,
    /// or ends the subject.
    var phase: TaskEvent.Phase? {
        switch change {
        case .began(let phase), .entered(let phase): phase
        case .noted, .ended: nil
        }
    }

    /// Whether the event was reported by its subject (the task or call that it is about) or by the creator of its
    /// subject. An event that another task reports about the subject may come after the subject has ended.
    var isOfItself: Bool { change != .noted }

    /// Whether the event is shown as a mark (a point on the bar of its subject): an event that does not change the
    /// phase, or an error that does not end the subject, such as that of an attempt.
    var isMark: Bool {
        switch change {
        case .noted: true
        case .began, .entered: error != nil
        case .ended: false
        }
    }

    /// Whether the event reports that the work of its subject (the task or call that it is about) begins to run, in a
    /// task of its own. Then ``task`` is the task that runs the work.
    var isInWorkingTask: Bool { change == .entered(.running) && primitive.runsInOwnTask }

    /// Whether the event reports that the work of a task threw an error. If the owner of the task handles the error,
    /// the task completes nevertheless.
    var isErrorOfWork: Bool { kind == .workFailed || kind == .unhandledError }
}
