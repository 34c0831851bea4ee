internal import CTaskControl

/// The mark of a turn, which code inside the turn carries: a task-local value, so that child tasks carry it too.
///
/// All queues share one key. A turn inside another queue's turn carries the outer turns along, but only those that have not ended: a
/// chain of tasks, each sent to another queue from inside the turn before, does not grow. A turn that is inside no other allocates nothing.
@usableFromInline
struct _HeldTurn: Sendable {
    /// `nil` only in the default of the key.
    let place: TurnPlace?
    /// The turns that it was taken in; `nil` if there are none.
    let outer: [TurnPlace]?

    static let key = TaskLocal(wrappedValue: _HeldTurn(place: nil, outer: nil))

    private init(place: TurnPlace?, outer: [TurnPlace]?) {
        self.place = place
        self.outer = outer
    }

    /// Creates the mark of a new turn of the current task.
    ///
    /// - Parameter key: ``key``, whose own access takes longer than the rest.
    init(_ place: TurnPlace, _ key: TaskLocal<_HeldTurn>) {
        let outer = Self.mark(key).map { held in (held.pointee.all).filter(\.isHeld) }
        self.init(place: place, outer: outer?.isEmpty == false ? outer : nil)
    }

    private var all: [TurnPlace] { (outer ?? []) + (place.map { [$0] } ?? []) }

    /// The innermost mark of the current task; where it is, since a copy takes longer than the look at it.
    @inline(__always)
    private static func mark(_ key: TaskLocal<_HeldTurn>) -> UnsafePointer<_HeldTurn>? {
        tc_taskLocal(Unmanaged.passUnretained(key).toOpaque())?.assumingMemoryBound(to: _HeldTurn.self)
    }

    /// Whether the current task, or a task that it stems from, holds a turn of a queue.
    @inline(__always)
    static func isHeld(of books: TurnBooks, _ key: TaskLocal<_HeldTurn>) -> Bool {
        guard let held = mark(key) else { return false }
        return held.pointee.isHeld(of: books)
    }

    private func isHeld(of books: TurnBooks) -> Bool { all.contains { $0.isHeld(of: books) } }
}
