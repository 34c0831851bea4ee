// The properties of swift-concurrency-extras, with the same declarations.

/// Tells a test which of two members of one name the compiler has chosen.
public enum Neighbor {
    /// Called by the members of this module.
    @TaskLocal public static var onCall: @Sendable () -> Void = {}
}

extension Task where Failure == Never {
    /// The value of the task, which is cancelled with its caller.
    public var cancellableValue: Success {
        get async {
            Neighbor.onCall()
            return await withTaskCancellationHandler {
                await self.value
            } onCancel: {
                self.cancel()
            }
        }
    }
}

extension Task where Failure == any Error {
    /// The value of the task, which is cancelled with its caller.
    public var cancellableValue: Success {
        get async throws {
            Neighbor.onCall()
            return try await withTaskCancellationHandler {
                try await self.value
            } onCancel: {
                self.cancel()
            }
        }
    }
}
