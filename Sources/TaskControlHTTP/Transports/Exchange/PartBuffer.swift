internal import Foundation

/// The parts of a body that have arrived and have not been read yet, in order.
struct PartBuffer<Part> {
    private var parts: [(Part, bytes: Int)?] = []
    private var first = 0
    private(set) var bytes = 0

    var isEmpty: Bool { first == parts.count }

    mutating func append(_ part: Part, bytes count: Int) {
        parts.append((part, count))
        bytes += count
    }

    /// Removes and returns the first part; `nil` if there is none.
    ///
    /// - Complexity: O(1), amortized.
    mutating func removeFirst() -> Part? {
        guard !isEmpty, let (part, count) = parts[first].take() else { return nil }
        first += 1
        bytes -= count
        if first == parts.count || first >= 64 && first * 2 >= parts.count {
            parts.removeFirst(first)
            first = 0
        }
        return part
    }
}
