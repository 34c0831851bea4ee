/// The state that determines how long an `AsyncTask` lives. Pure: a value without a lock, task or closure. A `Binding` is the registration of the
/// task with a lifetime.
///
///     undecided ──bind──▶ bound ──bind──▶ bound (elsewhere)
///         │                 │
///         └──decide──┬──────┘ release
///                    ▼
///                  free
///
///     any ──finish──▶ finished
///
/// If the task is bound on one thread while it ends on another, the later of the two calls receives the binding, and its caller removes it from the
/// registry.
struct AsyncTaskStateMachine<Binding> {
    private enum State {
        case undecided
        case bound(Binding)
        case free
        case finished
    }

    private var state = State.undecided

    /// The current registration of the task; `nil` if it is not bound, or has ended.
    var binding: Binding? {
        if case .bound(let binding) = state { binding } else { nil }
    }

    /// Records that the task was registered with a lifetime.
    ///
    /// - Parameter binding: The registration.
    /// - Returns: The binding that the caller must remove: the previous one, or, if the task has already ended, the new
    ///   one. `nil` if the task has not ended and had no binding.
    mutating func bind(_ binding: Binding) -> Binding? {
        if case .finished = state { return binding }
        defer { state = .bound(binding) }
        return self.binding
    }

    /// Records that the task was detached: it has no owner.
    ///
    /// - Returns: The binding that the caller must remove; `nil` if there is none.
    mutating func release() -> Binding? {
        if case .finished = state { return nil }
        defer { state = .free }
        return binding
    }

    /// Records that the lifetime of the task was chosen in another way than by binding the task, for example by storing
    /// it in a set.
    ///
    /// - Returns: The present binding, which remains valid; `nil` if there is none.
    @discardableResult
    mutating func decide() -> Binding? {
        if case .undecided = state { state = .free }
        return binding
    }

    /// Whether the task has not ended, and its lifetime is still to be chosen: the task was neither bound, stored,
    /// detached nor cancelled.
    var isUndecided: Bool {
        if case .undecided = state { true } else { false }
    }

    var isFinished: Bool {
        if case .finished = state { true } else { false }
    }

    /// Records that the task has ended.
    ///
    /// - Returns: The binding that the caller must remove; `nil` if there is none.
    mutating func finish() -> Binding? {
        defer { state = .finished }
        return binding
    }
}
