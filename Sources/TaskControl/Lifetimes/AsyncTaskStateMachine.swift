/// What an `AsyncTask` lives for. Generic over the binding: a place in a lifetime's books.
///
///     undecided ──bind──▶ bound ──bind──▶ bound (elsewhere)
///         │                 │
///         └──decide──┬──────┘ release
///                    ▼
///                  free
///
///     any ──finish──▶ finished
///
/// Binding and finishing race; whoever comes second is handed the binding and takes it out of the books.
struct AsyncTaskStateMachine<Binding> {
    private enum State {
        case undecided
        case bound(Binding)
        case free
        case finished
    }

    private var state = State.undecided
    /// What events know the task by; 0: nobody has listened so far.
    private var number: UInt64 = 0

    /// What events know the task by from now on.
    ///
    /// - Parameter fresh: Taken if it has none yet.
    mutating func number(orElse fresh: UInt64) -> UInt64 {
        if number == 0 { number = fresh }
        return number
    }

    /// The task has been entered in a lifetime's books.
    ///
    /// - Returns: What is to be taken out of the books: the place it had before, or, if the task has ended meanwhile, the new one.
    mutating func bind(_ binding: Binding) -> Binding? {
        switch state {
        case .undecided, .free:
            state = .bound(binding)
            return nil
        case .bound(let former):
            state = .bound(binding)
            return former
        case .finished:
            return binding
        }
    }

    /// The task belongs to nobody, on purpose.
    ///
    /// - Returns: What is to be taken out of the books.
    mutating func release() -> Binding? {
        switch state {
        case .undecided, .free:
            state = .free
            return nil
        case .bound(let binding):
            state = .free
            return binding
        case .finished:
            return nil
        }
    }

    /// Whoever holds the task has taken it in hand.
    ///
    /// - Returns: Where it is in the books, which stays so.
    @discardableResult
    mutating func decide() -> Binding? {
        if case .undecided = state { state = .free }
        if case .bound(let binding) = state { return binding }
        return nil
    }

    /// Whether nobody has said yet what the task lives for, and it still lives.
    var isUndecided: Bool {
        if case .undecided = state { true } else { false }
    }

    var isFinished: Bool {
        if case .finished = state { true } else { false }
    }

    /// - Returns: What is to be taken out of the books.
    mutating func finish() -> Binding? {
        defer { state = .finished }
        guard case .bound(let binding) = state else { return nil }
        return binding
    }
}
