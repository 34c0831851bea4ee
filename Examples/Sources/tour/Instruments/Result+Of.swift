extension Result where Failure == any Error {
    /// Returns the result or error of a function as a value.
    nonisolated(nonsending) static func of(_ body: nonisolated(nonsending) () async throws -> Success) async -> Result {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    var failure: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }
}
