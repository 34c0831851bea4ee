/// The flights of most packages. A caller that is cancelled waits for the end, the work has the priority of its first caller, and work that waits for its
/// own key never ends.
actor TaskPerKey {
    private var tasks: [Int: Task<Int, any Error>] = [:]

    func value(for key: Int, operation: @escaping @Sendable () async throws -> Int) async throws -> Int {
        if let task = tasks[key] { return try await task.value }
        let task = Task { @concurrent in try await operation() }
        tasks[key] = task
        defer { tasks[key] = nil }
        return try await task.value
    }
}
