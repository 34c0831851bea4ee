/// The lifetime of an `AsyncTask`. Generic over the binding: a place in a lifetime's registry.
///
///     undecided ──bind──▶ bound ──bind──▶ bound (elsewhere)
///         │                 │
///         └──decide──┬──────┘ release
///                    ▼
///                  free
///
///     any ──finish──▶ finished
///
/// Binding and finishing race; the second of them receives the binding, and removes it from the registry.
struct AsyncTaskStateMachine<Binding> {
    private enum State {
        case undecided
        case bound(Binding)
        case free
        case finished
    }

    private var state = State.undecided

    /// The place where the task is registered.
    var binding: Binding? {
        if case .bound(let binding) = state { binding } else { nil }
    }

    /// The task has been registered with a lifetime.
    ///
    /// - Returns: The binding that must be removed: the previous one, or, if the task has ended meanwhile, the new one.
    mutating func bind(_ binding: Binding) -> Binding? {
        if case .finished = state { return binding }
        defer { state = .bound(binding) }
        return self.binding
    }

    /// The task has no owner, on purpose.
    ///
    /// - Returns: The binding that must be removed.
    mutating func release() -> Binding? {
        if case .finished = state { return nil }
        defer { state = .free }
        return binding
    }

    /// The holder of the task has decided how long the task lives.
    ///
    /// - Returns: The place where the task is registered, and remains registered.
    @discardableResult
    mutating func decide() -> Binding? {
        if case .undecided = state { state = .free }
        return binding
    }

    /// Whether the task lives, and its lifetime is not decided yet.
    var isUndecided: Bool {
        if case .undecided = state { true } else { false }
    }

    var isFinished: Bool {
        if case .finished = state { true } else { false }
    }

    /// - Returns: The binding that must be removed.
    mutating func finish() -> Binding? {
        defer { state = .finished }
        return binding
    }
}
