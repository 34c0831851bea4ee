#if Logging || Metrics
extension TaskEvent {
    /// Whether it tells of what is a mistake, most often, as far as an event knows.
    var isMistake: Bool {
        switch kind {
        case .unhandledError, .dropped, .continuationDropped, .resumedAgain, .resumedAfterFailure: true
        // Work that was abandoned and fails of its cancellation has done what it was asked for.
        case .abandonedWorkEnded: error != nil && error != String(describing: CancellationError())
        default: false
        }
    }
}
#endif
