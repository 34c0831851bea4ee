import TaskControl

extension TaskOwner {
    /// Waits until all tasks have ended, and refuses later ones.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, the tasks are cancelled too, and the call still waits for them to end.
    func finish() async {
        // A grace period that only a cancellation of the caller ends.
        await shutdown(grace: .seconds(Int64.max))
    }
}
