extension Context {
    /// Applies all rules.
    mutating func run() {
        checkDroppedTasks()
        checkUncancelledTasks()
        checkTasksPerEvent()
        checkContinuations()
        checkChecksBeforeAwaits()
        checkSharedTasks()
        checkRetryLoops()
        checkBlockedWaits()
        checkTaskOrder()
        checkShownCancellations()
    }
}
