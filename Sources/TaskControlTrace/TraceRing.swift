/// The latest events, in chunks; the oldest chunk is dropped as a whole. Pure.
///
/// A copy of the ring is one reference per chunk, and recording while a copy is written copies one chunk at a time, not all.
struct TraceRing {
    typealias Chunk = [TraceRecord]

    /// The latest events, and the number of events before them.
    struct Copy: Sendable {
        fileprivate(set) var chunks: [ArraySlice<TraceRecord>] = []
        fileprivate(set) var lost = 0

        var count: Int { chunks.reduce(0) { $0 + $1.count } }
    }

    let capacity: Int
    private let chunkSize: Int
    /// Large enough that `capacity` events are kept even if the newest chunk has only one.
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

    /// - Returns: The chunk that was dropped, to be released by the caller.
    /// - Complexity: O(1); memory is allocated once per chunk.
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

    /// - Returns: All chunks, to be released by the caller.
    mutating func removeAll() -> [Chunk] {
        let all = chunks
        self = TraceRing(capacity: capacity, chunkSize: chunkSize)
        return all
    }

    /// The latest `capacity` events, oldest first. Use it on a copy of the ring, without the lock: it takes O(*n*/256).
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
