/// The state of a ``ContentLoader`` and its loads. Only the newest load may change the state.
struct LoadingStateMachine<Content> {
    /// The state from before the current load, to which a cancellation returns; the current state if no load runs.
    private var settled: LoadingState<Content>
    /// The number that ``begin()`` returned for the current load; `nil` if no load runs.
    private(set) var running: Int?
    private var last = 0

    init(_ content: Content?) {
        settled = content.map { .success(content: $0) } ?? .initial
    }

    var state: LoadingState<Content> { running == nil ? settled : .loading(cache: settled.content) }

    var isLoading: Bool { running != nil }

    /// Begins a load, which replaces the current one.
    ///
    /// - Returns: The number by which ``end(_:with:)`` identifies the load. No two loads have the same number.
    mutating func begin() -> Int {
        last += 1
        running = last
        return last
    }

    /// Ends a load with its result.
    ///
    /// - Parameters:
    ///   - load: The number that ``begin()`` returned for the load.
    ///   - result: The result of the load.
    /// - Returns: Whether this changes the state: `false` for a load that was replaced or cancelled.
    mutating func end(_ load: Int, with result: Result<Content, any Error>) -> Bool {
        guard load == running else { return false }
        running = nil
        switch result {
        case .success(let content): settled = .success(content: content)
        case .failure(let error): settled = .failure(error: error, cache: settled.content)
        }
        return true
    }

    /// Cancels the current load, and returns to the state before it.
    ///
    /// - Returns: Whether there was a load.
    mutating func cancel() -> Bool {
        running.take() != nil
    }

    /// Sets the content. Cancels the current load, whose result is older than this content.
    mutating func replace(with content: Content) {
        running = nil
        settled = .success(content: content)
    }
}

extension LoadingStateMachine: Sendable where Content: Sendable {}
