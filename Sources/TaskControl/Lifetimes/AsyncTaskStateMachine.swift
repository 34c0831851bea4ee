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
struct AsyncTaskStateMachine<Binding: Numbered> {
    /// With what events know the task by; 0: nobody has listened so far. A place in the books says that itself: a word more a task would be
    /// a word too many.
    private enum State {
        case undecided(UInt64)
        case bound(Binding)
        case free(UInt64)
        case finished(UInt64)
    }

    /// What events know the task by.
    enum Known {
        case number(UInt64)
        case place(Binding)
    }

    private var state = State.undecided(0)

    /// What events know the task by from now on.
    ///
    /// - Parameter fresh: Taken if it has no number yet.
    mutating func known(orElse fresh: UInt64) -> Known {
        switch state {
        case .bound(let binding): return .place(binding)
        case .undecided(0): state = .undecided(fresh)
        case .free(0): state = .free(fresh)
        case .finished(0): state = .finished(fresh)
        case .undecided(let number), .free(let number), .finished(let number): return .number(number)
        }
        return .number(fresh)
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
        case .undecided(let number), .free(let number):
            state = .free(number)
            return nil
        case .bound(let binding):
            state = .free(binding.number)
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
        if case .undecided(let number) = state { state = .free(number) }
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
        switch state {
        case .bound(let binding):
            state = .finished(binding.number)
            return binding
        case .undecided(let number), .free(let number), .finished(let number):
            state = .finished(number)
            return nil
        }
    }
}

/// What may bring the number along that events know its task by.
protocol Numbered {
    /// 0: there is none.
    var number: UInt64 { get }
}
