// The declarations that the cases use, so that they compile. There are no findings in this file.
import Foundation

struct Item: Sendable, Equatable { var name = "" }
struct Timeout: Error {}

final class API: Sendable {
    func feed() async throws -> [Item] { [] }
    func search(_ text: String) async throws -> [Item] { [] }
    func user(_ id: Int) async throws -> String { "" }
    func save(_ text: String) async throws {}
    func ping() async {}
    func token() async throws -> String { "" }
    func events() -> AsyncStream<String> { AsyncStream { $0.finish() } }
    func cancel(_ id: Int) async {}
}

class Request: @unchecked Sendable {
    func resume() {}
    func cancel() {}
}

final class Session: @unchecked Sendable {
    func dataTask(_ text: String, completion: @escaping @Sendable (String?, Error?) -> Void) -> Request { Request() }
    func load(_ text: String, completion: @escaping @Sendable (String) -> Void) -> Request { Request() }
    func send(_ text: String, completion: @escaping @Sendable (String?, Error?) -> Void) {}
    func send(_ text: String, success: @escaping @Sendable (String) -> Void, failure: @escaping @Sendable (Error) -> Void) {}
}

actor Log {
    func append(_ line: String) {}
    func write(_ line: String) {}
    func flush() {}
}

/// Stand-ins for types of SwiftUI and UIKit.
@propertyWrapper struct State<Value> {
    var wrappedValue: Value
    init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}
struct Screen {
    func onChange<Value>(of value: Value, _ action: @escaping () -> Void) -> Screen { self }
    func task(_ action: @escaping () async -> Void) -> Screen { self }
    func refreshable(_ action: @escaping () async -> Void) -> Screen { self }
    func onDisappear(_ action: @escaping () -> Void) -> Screen { self }
}
@MainActor class ViewController {
    func viewDidLoad() {}
    func present(_ text: String) {}
}
final class Socket: @unchecked Sendable {
    var onMessage: ((String) -> Void)?
    func receive() async throws -> String { "" }
    func connect() async throws {}
}
