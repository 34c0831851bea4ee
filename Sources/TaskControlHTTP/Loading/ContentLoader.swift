public import Observation

/// An object that loads the content of a screen and keeps its ``LoadingState``: whether content is loading, the content
/// that was loaded last, and the error of the last load, if that failed.
///
/// ```swift
/// @MainActor final class BookListScreen {
///     private let books: ContentLoader<[Book]>
///     private var observation: LoaderObservation?
///
///     init(client: any APIClient) {
///         books = ContentLoader(BookListEndpoint(), from: client)
///         observation = books.observe { [weak self] in self?.render() }
///         books.load()
///     }
/// }
/// ```
///
/// A SwiftUI view that reads ``state`` is updated when the state changes: the loader is `Observable` (macOS 14, iOS 17,
/// tvOS 17, watchOS 10, and Linux). On older systems, and outside views, ``observe(_:)`` calls a handler after each
/// change.
///
/// ## Ordering
/// The state changes on the main actor only. Of all loads, only the newest changes the state: the result of a load that
/// was replaced or cancelled is dropped, even if it arrives later.
///
/// ## Cancellation
/// ``cancel()`` cancels the running load and restores the last state in which no load was running. ``reload()`` cancels
/// the running load and begins another. ``replaceContent(with:)`` cancels it too. A loader that is deallocated cancels
/// its load. The load does not retain the loader.
@MainActor
public final class ContentLoader<Content: Sendable> {
    /// The name shown in diagnostics; `nil` if the loader has none.
    public nonisolated var name: String? { slot.name }

    private var machine: LoadingStateMachine<Content>
    private var work: @Sendable () async throws -> Content
    /// The task of the current load; `nil` once the result has arrived, or if none runs.
    private var running: Task<Void, Never>?
    /// The owner of the tasks of all loads. All of these tasks except the newest are cancelled.
    private nonisolated let slot: TaskSlot
    private nonisolated let handlers = LoaderHandlers()
    private nonisolated let registrar = Registrar()

    /// Creates a loader. It does not load until ``load()`` or ``reload()`` is called.
    ///
    /// - Parameters:
    ///   - name: The name shown in diagnostics; `nil` for none.
    ///   - content: The content to begin with, such as content of a cache: the state is then
    ///     ``LoadingState/success(content:)``. By default there is none, and the state is ``LoadingState/initial``.
    ///   - work: Loads the content. An error that it throws becomes the error of the state. Runs on the global
    ///     executor. List what it needs in its capture list. Do not capture the object that has the loader as a
    ///     property, such as a screen: the loader retains the closure, and so would retain that object.
    public nonisolated init(
        name: String? = nil,
        content: Content? = nil,
        work: @escaping @Sendable () async throws -> Content
    ) {
        machine = LoadingStateMachine(content)
        slot = TaskSlot(name: name, behavior: .runConcurrently)
        self.work = work
    }

    /// Creates a loader for the content of an endpoint. It does not load until ``load()`` or ``reload()`` is called.
    ///
    /// - Parameters:
    ///   - name: The name shown in diagnostics; `nil` for none.
    ///   - content: The content to begin with, such as content of a cache. By default there is none.
    ///   - endpoint: The endpoint that each load requests.
    ///   - client: The client that sends the requests. The loader retains it.
    public nonisolated convenience init<E: Endpoint>(
        name: String? = nil,
        content: Content? = nil,
        _ endpoint: E,
        from client: any APIClient
    ) where E.Content == Content {
        self.init(name: name, content: content) { try await client.request(endpoint) }
    }

    /// The current state: whether content was loaded, is loading, or failed to load. The property is observable.
    public var state: LoadingState<Content> {
        registrar.access(self)
        return machine.state
    }

    /// Begins to load, unless a load is running.
    public func load() {
        begin(replacesRunning: false)
    }

    /// Begins to load. A load that is already running is cancelled, and its result is dropped. The last content stays
    /// available in ``state``.
    public func reload() {
        begin(replacesRunning: true)
    }

    /// Begins to load with another closure, which later loads use too: for example, after the text of a search has
    /// changed. A load that is already running is cancelled, and its result is dropped.
    ///
    /// ```swift
    /// results.reload { [client, text] in try await client.request(SearchEndpoint(text)) }
    /// ```
    ///
    /// - Parameter work: Loads the content. Runs on the global executor. List what it needs in its capture list. Do not
    ///   capture the object that has the loader as a property, such as a screen: the loader retains the closure, and so
    ///   would retain that object.
    public func reload(_ work: @escaping @Sendable () async throws -> Content) {
        self.work = work
        begin(replacesRunning: true)
    }

    /// Cancels the running load, and restores the last state in which no load was running. Does nothing if no load is
    /// running.
    public func cancel() {
        change {
            $0.cancel()
        } then: {
            running.take()?.cancel()
        }
    }

    /// Sets the content, for example after the user has changed it. The state becomes
    /// ``LoadingState/success(content:)``, and a running load is cancelled.
    public func replaceContent(with content: Content) {
        change {
            $0.replace(with: content)
            return true
        } then: {
            running.take()?.cancel()
        }
    }

    /// Waits until no load is running, for example in the closure of `refreshable`. Also waits for the work of loads
    /// that were replaced or cancelled, until that work has ended.
    ///
    /// ```swift
    /// List(books.state.content ?? []) { BookRow($0) }
    ///     .refreshable {
    ///         books.reload()
    ///         try? await books.drain()
    ///     }
    /// ```
    ///
    /// ## Cancellation
    /// If the caller is cancelled, this function throws immediately. The load continues.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled, and no other error.
    public nonisolated func drain() async throws(CancellationError) {
        try await slot.drain()
    }

    /// Calls a handler after each change of the state, until the observation ends.
    ///
    /// ```swift
    /// observation = books.observe { [weak self] in self?.render() }
    /// ```
    ///
    /// The handler is not called for the current state. Handlers run on the main actor, in the order of their
    /// registration, directly after the change: a call that changes the state, such as ``load()``, returns after they
    /// have run. A handler may itself change the state, for example with ``load()``: all handlers are then called for
    /// the newer change, and afterwards the remaining handlers for the older one. Each of them reads the newest state.
    ///
    /// - Parameter handler: Called after each change. Retained by the loader until the observation ends: capture `self`
    ///   weakly.
    /// - Returns: An object that stands for the observation. Keep this object: the observation ends when it is
    ///   released.
    public nonisolated func observe(_ handler: @escaping @MainActor () -> Void) -> LoaderObservation {
        LoaderObservation(handlers, handler)
    }

    private func begin(replacesRunning: Bool) {
        var number: Int?
        change {
            number = nil
            let isLoading = $0.isLoading
            if isLoading, !replacesRunning { return false }
            number = $0.begin()
            // If a load replaces another one, the state stays the same.
            return !isLoading
        }
        // An observer or a handler may have replaced or cancelled this load.
        guard let number, machine.running == number else { return }
        running.take()?.cancel()
        // A cancellation handler of the previous load may have done so too.
        guard machine.running == number else { return }
        let work = work
        running = slot.addTask { [weak self] in
            let result = await Self.result(of: work)
            if self?.end(number, with: result) == true { return }
            guard case .failure(let error) = result else { return }
            // The load was replaced or cancelled, so its error is not in the state.
            await settle(error, in: .contentLoader, isCancelled: true, handler: nil)
        }
    }

    /// Runs the work outside the main actor, and returns its result or error.
    @concurrent
    private nonisolated static func result(
        of work: @Sendable () async throws -> Content
    ) async -> Result<Content, any Error> {
        do {
            return .success(try await work())
        } catch {
            return .failure(error)
        }
    }

    /// Ends a load with its result, unless the load was replaced or cancelled.
    ///
    /// - Parameter number: The number that ``LoadingStateMachine/begin()`` returned for the load.
    /// - Returns: Whether the state now shows the result: `false` if the load was replaced or cancelled.
    private func end(_ number: Int, with result: Result<Content, any Error>) -> Bool {
        // The task of this load calls the observers and handlers, which may begin another load or cancel: that must not
        // cancel this task.
        if machine.running == number { running = nil }
        return change { $0.end(number, with: result) }
    }

    /// Changes the state, and notifies its observers and handlers.
    ///
    /// Observers of the `ObservationRegistrar` are notified before the change. If they call the loader and so change
    /// the state, the change is applied to the state that they have made.
    ///
    /// - Parameters:
    ///   - body: Changes the state machine, and returns whether its state has changed. If so, it is called a second
    ///     time: the first call receives a copy, which is dropped.
    ///   - effect: Called after the state has changed, and before the handlers are called.
    /// - Returns: Whether the state was changed.
    @discardableResult
    private func change(
        _ body: (inout LoadingStateMachine<Content>) -> Bool,
        then effect: () -> Void = {}
    ) -> Bool {
        var preview = machine
        guard body(&preview) else {
            machine = preview
            return false
        }
        var isChange = false
        registrar.withMutation(of: self) {
            let before = machine
            var current = before
            isChange = body(&current)
            machine = current
            if isChange { effect() }
            // Content is released after the access to the machine: its deinitializer may call the loader.
            withExtendedLifetime(before) {}
        }
        if isChange { handlers.call() }
        return isChange
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension ContentLoader: Observable {}

/// The `ObservationRegistrar` of a loader, where the platform has one.
private struct Registrar: Sendable {
    private let registrar: (any Sendable)?

    init() {
        if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) {
            registrar = ObservationRegistrar()
        } else {
            registrar = nil
        }
    }

    @MainActor func access<Content>(_ loader: ContentLoader<Content>) {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { return }
        (registrar as! ObservationRegistrar).access(loader, keyPath: \.state)
    }

    @MainActor func withMutation<Content>(of loader: ContentLoader<Content>, _ change: () -> Void) {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { return change() }
        (registrar as! ObservationRegistrar).withMutation(of: loader, keyPath: \.state, change)
    }
}
