/// The state of content that is loaded: nothing yet, loading, loaded, or failed. The last content stays available while
/// new content loads, and after a failure.
///
/// ```swift
/// switch books.state {
/// case .initial: showPlaceholder()
/// case .loading(let cache): show(cache ?? [], isLoading: true)
/// case .success(let books): show(books)
/// case .failure(let error, let cache): show(cache ?? [], error)
/// }
/// ```
public enum LoadingState<Content> {
    /// The state before the first load, if there is no content yet.
    case initial

    /// Content is loading. `cache` is the content from before this load; `nil` if there is none.
    case loading(cache: Content?)

    /// The content was loaded.
    case success(content: Content)

    /// The last load failed. `cache` is the content from before that load; `nil` if there is none.
    case failure(error: any Error, cache: Content?)
}

extension LoadingState: Sendable where Content: Sendable {}

extension LoadingState {
    /// The content that can be shown: the loaded content, or the last content while new content loads and after a
    /// failure. `nil` if there is none.
    public var content: Content? {
        switch self {
        case .initial: nil
        case .loading(let cache), .failure(_, let cache): cache
        case .success(let content): content
        }
    }

    /// Whether content is loading.
    public var isLoading: Bool {
        if case .loading = self { true } else { false }
    }

    /// The error if the state is ``failure(error:cache:)``; otherwise `nil`.
    public var error: (any Error)? {
        if case .failure(let error, _) = self { error } else { nil }
    }

    /// Returns the same state with transformed ``content``. If the state has no content, `transform` is not called.
    public func map<Other>(_ transform: (Content) throws -> Other) rethrows -> LoadingState<Other> {
        switch self {
        case .initial: .initial
        case .loading(let cache): .loading(cache: try cache.map(transform))
        case .success(let content): .success(content: try transform(content))
        case .failure(let error, let cache): .failure(error: error, cache: try cache.map(transform))
        }
    }

    /// Combines the states of two loaders, for a screen that shows both contents.
    ///
    /// The combination is loading if either state is loading. Otherwise it has failed if either state has failed; if
    /// both have failed, the error is that of this state. Otherwise it is initial if either state is initial, and a
    /// success if both are successes. If both states have content, the content of the combination is what `transform`
    /// returns for them; otherwise it has none.
    ///
    /// ```swift
    /// let state = organization.state.merge(repositories.state) { Overview($0, $1) }
    /// ```
    public func merge<Other, Merged>(
        _ other: LoadingState<Other>,
        transform: (Content, Other) throws -> Merged
    ) rethrows -> LoadingState<Merged> {
        var merged: Merged?
        if let content, let otherContent = other.content { merged = try transform(content, otherContent) }
        if isLoading || other.isLoading { return .loading(cache: merged) }
        if let error = error ?? other.error { return .failure(error: error, cache: merged) }
        return merged.map { .success(content: $0) } ?? .initial
    }
}

/// Failures are equal if their caches are equal and the domains and codes of their errors, bridged to `NSError`, are
/// equal.
extension LoadingState: Equatable where Content: Equatable {
    /// Returns whether two states are the same case with equal content. The errors of two failures count as equal if,
    /// bridged to `NSError`, they have the same domain and code.
    public static func == (one: LoadingState, other: LoadingState) -> Bool {
        switch (one, other) {
        case (.initial, .initial): return true
        case (.loading(let one), .loading(let other)): return one == other
        case (.success(let one), .success(let other)): return one == other
        case (.failure(let error, let one), .failure(let otherError, let other)):
            let (error, otherError) = (error as NSError, otherError as NSError)
            return one == other && error.domain == otherError.domain && error.code == otherError.code
        default: return false
        }
    }
}
