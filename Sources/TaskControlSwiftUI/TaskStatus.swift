#if canImport(SwiftUI)
internal import Foundation
public import SwiftUI
public import TaskControl

/// A view that shows whether work waits, runs, has failed, or is done: a text, a progress indicator, a message with a button
/// that tries again, or nothing.
///
/// ```swift
/// List(model.items) { Text($0.title) }
///     .overlay { TaskStatus(of: model.loads, failure: model.problem) { await model.load() } }
/// ```
///
/// The view observes the slot: it changes when a task begins or ends. A message is shown only while no task runs, and, if
/// there is a text for work that waits, while none waits. A task waits for an older task, for a pause or for the end of an
/// interval: see `TaskSlot.isWaiting`.
@available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
public struct TaskStatus: View {
    private let slot: TaskSlot
    private let waiting: Text?
    private let failure: (any Error)?
    private let tryAgain: (@MainActor () async -> Void)?

    /// Creates a view that shows the status of the work in a slot.
    ///
    /// - Parameters:
    ///   - slot: The slot that owns the work.
    ///   - waiting: The text that is shown while a task waits and none runs; `nil` for none, so that a pause in typing is
    ///     not shown.
    ///   - failure: The error of the last run; `nil` if there is none.
    ///   - tryAgain: The action of the button beside the message; `nil` for no button.
    public init(
        of slot: TaskSlot,
        waiting: Text? = nil,
        failure: (any Error)? = nil,
        tryAgain: (@MainActor () async -> Void)? = nil
    ) {
        (self.slot, self.waiting, self.failure, self.tryAgain) = (slot, waiting, failure, tryAgain)
    }

    /// The progress indicator, the text, the message, or nothing.
    public var body: some View {
        if slot.isRunning {
            ProgressView()
        } else if let waiting, slot.isWaiting {
            waiting
        } else if let failure {
            VStack {
                Text(failure.localizedDescription)
                if let tryAgain { AsyncButton("Try again", action: tryAgain) }
            }
        }
    }
}
#endif
