#if canImport(SwiftUI)
internal import Foundation
public import SwiftUI
public import TaskControl

/// A view that shows whether work runs, has failed, or is done: a progress indicator, a message with a button that tries
/// again, or nothing.
///
/// ```swift
/// List(model.items) { Text($0.title) }
///     .overlay { TaskStatus(of: model.loads, failure: model.problem) { await model.load() } }
/// ```
///
/// The view observes the slot: it changes when a task begins or ends. A message is shown only while no task runs.
@available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
public struct TaskStatus: View {
    private let slot: TaskSlot
    private let failure: (any Error)?
    private let tryAgain: (@MainActor () async -> Void)?

    /// Creates a view that shows the status of the work in a slot.
    ///
    /// - Parameters:
    ///   - slot: The slot that owns the work.
    ///   - failure: The error of the last run; `nil` if there is none.
    ///   - tryAgain: The action of the button beside the message; `nil` for no button.
    public init(of slot: TaskSlot, failure: (any Error)? = nil, tryAgain: (@MainActor () async -> Void)? = nil) {
        (self.slot, self.failure, self.tryAgain) = (slot, failure, tryAgain)
    }

    /// The progress indicator, the message, or nothing.
    public var body: some View {
        if slot.isRunning {
            ProgressView()
        } else if let failure {
            VStack {
                Text(failure.localizedDescription)
                if let tryAgain { AsyncButton("Try again", action: tryAgain) }
            }
        }
    }
}
#endif
