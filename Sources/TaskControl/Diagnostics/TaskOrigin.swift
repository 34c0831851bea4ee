/// The call that started a task, as it is named in the report of an error that no code handles.
package struct TaskOrigin: Sendable {
    /// The name of the call as it is spelled in code, such as `AsyncTask`.
    package let name: String
    package let primitive: TaskEvent.Primitive
    /// Whether the work passes its result to another object, as in `run(for:)` of an ``AsyncLifetime``. A task of such
    /// work does not throw, so an error of the work is also emitted as ``TaskEvent/Kind/workFailed``.
    let isForOwner: Bool

    package init(_ name: String, _ primitive: TaskEvent.Primitive, isForOwner: Bool = false) {
        self.name = name
        self.primitive = primitive
        self.isForOwner = isForOwner
    }

    /// Reports an error that was thrown and that no code handles, as a mistake in the program.
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
