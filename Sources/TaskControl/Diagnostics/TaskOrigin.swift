/// The call that started work, for the report of an error that nothing handles.
package struct TaskOrigin: Sendable {
    /// The name of the call as it is spelled in code, such as `AsyncTask`.
    package let name: String
    package let primitive: TaskEvent.Primitive
    /// Whether the work passes its result to an owner, as in `run(for:)`. The task of such work handles the error itself, and completes.
    let isForOwner: Bool

    package init(_ name: String, _ primitive: TaskEvent.Primitive, isForOwner: Bool = false) {
        self.name = name
        self.primitive = primitive
        self.isForOwner = isForOwner
    }

    /// Reports an error that was thrown and that nothing handles.
    package func reportUnhandled(_ error: any Error) {
        Diagnostics.report(
            TaskEvent(
                primitive,
                .unhandledError,
                taskName: Diagnostics.currentTaskName,
                error: error,
                detail: name
            ),
            error: error,
            advice: "\(name): an error was thrown and nothing handles it"
        )
    }
}
