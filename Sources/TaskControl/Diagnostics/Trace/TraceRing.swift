/// The latest events, in chunks of which the oldest falls out as a whole. Pure.
///
/// Chunks, so that a copy is a reference a chunk, and whoever records while a copy is written pays for one chunk at a time, not for all.
struct TraceRing {
    typealias Chunk = [TaskEvent]

    /// The latest events, and how many came before them.
    struct Copy: Sendable {
        fileprivate(set) var chunks: [ArraySlice<TaskEvent>] = []
        fileprivate(set) var lost = 0

        var count: Int { chunks.reduce(0) { $0 + $1.count } }
    }

    let capacity: Int
    private let chunkSize: Int
    /// So many that `capacity` events are there even when the newest chunk has only one.
    private let chunkLimit: Int
    private var chunks: [Chunk] = []
    private var newest = 0
    /// Of all time.
    private(set) var count = 0

    /// - Parameter capacity: 1 or more.
    init(capacity: Int, chunkSize: Int = 256) {
        self.capacity = capacity
        self.chunkSize = min(chunkSize, capacity)
        chunkLimit = (capacity - 1 + self.chunkSize - 1) / self.chunkSize + 1
    }

    /// - Returns: What fell out, to be let go of by the caller.
    /// - Complexity: O(1); no memory is taken but once a chunk.
    mutating func append(_ event: TaskEvent) -> Chunk? {
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

    /// - Returns: All chunks, to be let go of by the caller.
    mutating func removeAll() -> [Chunk] {
        let all = chunks
        self = TraceRing(capacity: capacity, chunkSize: chunkSize)
        return all
    }

    /// The latest `capacity` events, oldest first. To be taken from a copy of the ring: it takes O(*n*/256).
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
