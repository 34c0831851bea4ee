/// The loads of a ``ContentLoader``, of which the newest alone may change the state.
struct LoadingStateMachine<Content> {
    /// The state without the running load.
    private var settled: LoadingState<Content>
    /// The number of the running load.
    private(set) var running: Int?
    private var last = 0

    init(_ content: Content?) {
        settled = content.map { .success(content: $0) } ?? .initial
    }

    var state: LoadingState<Content> { running == nil ? settled : .loading(cache: settled.content) }

    var isLoading: Bool { running != nil }

    /// Begins a load, in place of the running one. Returns its number.
    mutating func begin() -> Int {
        last += 1
        running = last
        return last
    }

    /// Ends a load. Returns whether that changes the state: a load that was replaced or cancelled does not.
    mutating func end(_ load: Int, with result: Result<Content, any Error>) -> Bool {
        guard load == running else { return false }
        running = nil
        switch result {
        case .success(let content): settled = .success(content: content)
        case .failure(let error): settled = .failure(error: error, cache: settled.content)
        }
        return true
    }

    /// Cancels the running load, and returns to the state before it. Returns whether there is one.
    mutating func cancel() -> Bool {
        running.take() != nil
    }

    /// Sets the content. The running load is cancelled: its result is older than this content.
    mutating func replace(with content: Content) {
        running = nil
        settled = .success(content: content)
    }
}

extension LoadingStateMachine: Sendable where Content: Sendable {}
