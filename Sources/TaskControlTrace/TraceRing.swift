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
