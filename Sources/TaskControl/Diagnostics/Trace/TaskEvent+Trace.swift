/// What events mean for a trace.
extension TaskEvent {
    /// Whether it is told by the subject, or by whoever begins it; and not by others, perhaps after its end.
    var isOfItself: Bool { stage != .goesOn || phase != nil }

    /// Whether it is shown as a moment of its subject.
    var isMark: Bool {
        switch kind {
        // An attempt of `retry` that failed.
        case .failed: stage != .ends
        default: stage == .goesOn && phase == nil
        }
    }

    /// Whether it happens in the task that does the subject's work.
    var isOfTheTaskAtWork: Bool {
        switch (kind, primitive) {
        case (.running, .retry): false
        case (.running, _): true
        case (.started, .asyncTask), (.started, .asyncLifetime), (.started, .taskBag), (.started, .identifiableTaskBag),
            (.started, .taskStore), (.started, .fifoQueue), (.started, .actorQueue):
            true
        default: false
        }
    }

    /// What becomes of a subject that this event ends.
    ///
    /// - Parameter hasThrown: Whether an error was told of it, perhaps by an owner that passes none on.
    func outcome(hasThrown: Bool) -> TraceModel.Outcome {
        switch kind {
        case .timedOut: .timedOut
        case .skipped, .left: .cancelled
        case _ where isCancelled: .cancelled
        case .failed, .gaveUp: .failed
        case .completed where hasThrown && primitive != .http: .failed
        default: .completed
        }
    }
}

extension TaskEvent.Kind {
    /// Whether it tells only that an instance is there.
    var isOfAnInstance: Bool { self == .created || self == .deallocated }
}
