/// The call that started work whose error is not received.
package struct TaskOrigin: Sendable {
    /// As it is spelled in code.
    package let name: String
    package let primitive: TaskEvent.Primitive
    /// Whether it is work for an owner: its task handles the error and has itself completed.
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
