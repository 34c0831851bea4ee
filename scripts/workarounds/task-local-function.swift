// crashes: optimized code binds a task-local value that is a function
enum Server {
    @TaskLocal static var answer: @Sendable (String) async throws -> String = { $0 }
}

@main struct Main {
    static func main() async throws {
        try await Server.$answer.withValue({ $0 + "!" }) { print(try await Server.answer("a")) }
    }
}
