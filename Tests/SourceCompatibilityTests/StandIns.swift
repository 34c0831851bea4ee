import TaskControlTesting

// The declarations that the documents' code uses and does not show, and those of frameworks that not every platform has.

// MARK: Backend

/// Answers everything that the documents' code asks.
struct Backend: Sendable {
    /// Task-local, so that each call of a test can have its own. (Not of a function type: see scripts/workarounds/task-local-function.swift.)
    @TaskLocal private static var current = Backend { $0 }

    private let respond: @Sendable (_ request: String) async throws -> String

    init(respond: @escaping @Sendable (_ request: String) async throws -> String) {
        self.respond = respond
    }

    static func answer(_ request: String) async throws -> String { try await current.respond(request) }

    /// Tasks that are started meanwhile ask this backend.
    @discardableResult
    func serving<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Self.$current.withValue(self, operation: body)
    }
}

/// Answers when it is released; a caller that is cancelled before that receives a `CancellationError`.
final class HeldBackend: Sendable {
    let log = OrderRecorder<String>()
    let begun = Gate()
    let released = Gate()
    let answered = Gate()
    let cancelled = Gate()

    func answer(_ request: String) async throws -> String {
        log.record(request)
        begun.open()
        do {
            try await released.wait()
        } catch {
            cancelled.open()
            throw error
        }
        answered.open()
        return request
    }

    /// Tasks that are started meanwhile ask this backend.
    @discardableResult
    func serving<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Backend { try await self.answer($0) }.serving(body)
    }
}

struct Item: Equatable, Sendable {
    var title: String
}

struct Profile: Equatable, Sendable {
    var name: String
}

struct SearchResult: Equatable, Sendable {
    var title: String
}

struct API: Sendable {
    func fetchFeed() async throws -> [Item] { [Item(title: try await Backend.answer("feed"))] }

    func fetchProfile() async throws -> Profile { Profile(name: try await Backend.answer("profile")) }

    @discardableResult
    func fetchCriticalData() async throws -> [UInt8] { Array(try await Backend.answer("critical data").utf8) }
}

let api = API()

enum SearchAPI {
    static func search(query: String) async throws -> [SearchResult] {
        [SearchResult(title: try await Backend.answer(query))]
    }
}

enum FeedAPI {
    static func fetch() async throws -> [Item] { try await api.fetchFeed() }
}

enum Analytics {
    enum Event: String {
        case screenViewed
    }

    static func log(_ event: Event) async { _ = try? await Backend.answer(event.rawValue) }
}

func doWork() async { _ = try? await Backend.answer("work") }
func doLongWork() async { _ = try? await Backend.answer("long work") }
func loadFeed() async { _ = try? await Backend.answer("feed") }
func loadAds() async { _ = try? await Backend.answer("ads") }
func doRefresh() async { _ = try? await Backend.answer("refresh") }
func doSync() async { _ = try? await Backend.answer("sync") }
func refreshData() async { _ = try? await Backend.answer("refresh") }
func syncWithServer() async { _ = try? await Backend.answer("sync") }

// MARK: Combine

protocol ObservableObject: AnyObject {}

@propertyWrapper struct Published<Value> {
    var wrappedValue: Value
}

// MARK: UIKit

@MainActor class UIViewController {
    init() {}

    func viewWillAppear(_ animated: Bool) {}
    func viewDidDisappear(_ animated: Bool) {}
}

// MARK: SwiftUI

@MainActor protocol View {
    associatedtype Body: View

    var body: Body { get }
}

extension Never: View {
    var body: Never { fatalError("A primitive view has no body.") }
}

struct VStack: View {
    init(_ content: () -> Void) { content() }

    var body: Never { fatalError("A primitive view has no body.") }
}

struct TaskView: View {
    let action: @Sendable () async -> Void

    var body: Never { fatalError("A primitive view has no body.") }

    /// Acts as SwiftUI does; the task must be cancelled when the view disappears.
    func appear() -> Task<Void, Never> {
        Task { [action] in await action() }
    }
}

extension View {
    func task(
        priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> TaskView {
        TaskView(action: action)
    }
}

@propertyWrapper struct Bindable<Value> {
    var wrappedValue: Value
}
