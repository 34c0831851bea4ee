/// The place of a turn in its queue.
///
/// It refers to the state of the queue and not to the queue itself: tasks that outlive the turn retain this place, and must not retain the
/// queue.
struct TurnPlace: Sendable {
    let books: TurnBooks
    let id: TurnBooks.Machine.ID

    /// Whether the turn has begun and not ended.
    var isHeld: Bool { books.isHeld(id) }

    func isHeld(of books: TurnBooks) -> Bool { self.books === books && isHeld }
}
