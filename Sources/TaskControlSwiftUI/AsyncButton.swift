#if canImport(SwiftUI)
internal import Combine
public import SwiftUI
internal import TaskControl

/// A button whose action is `async`. While the action runs, the button is disabled, and shows its progress; when the button
/// leaves the screen, the action is cancelled.
///
/// ```swift
/// AsyncButton("Send") { await model.send() }
/// ```
///
/// The action runs once at a time: a tap that comes while it runs has no effect. Its task belongs to the button, so it must
/// not do work that has to be completed: let a lifetime or a queue of the model own such work, and call it from a `Button`.
///
/// ## Cancellation
/// The action is cancelled when SwiftUI removes the button from the hierarchy of views, not when it is scrolled off in a
/// list that keeps it.
public struct AsyncButton<Label: View>: View {
    private let role: ButtonRole?
    private let action: @MainActor () async -> Void
    private let label: Label
    @StateObject private var run = AsyncButtonRun()

    /// Creates a button with a label.
    ///
    /// - Parameters:
    ///   - role: The role, such as `.destructive`; `nil` for none.
    ///   - action: The action. Runs in a task of the button, on the main actor.
    ///   - label: Creates the label.
    public init(
        role: ButtonRole? = nil,
        action: @escaping @MainActor () async -> Void,
        @ViewBuilder label: () -> Label
    ) {
        self.role = role
        self.action = action
        self.label = label()
    }

    /// The label, or the label and a progress indicator, in a button.
    public var body: some View {
        Button(role: role) {
            run.start(action)
        } label: {
            HStack {
                label
                if run.isRunning { ProgressView() }
            }
        }
        .disabled(run.isRunning)
    }
}

extension AsyncButton where Label == Text {
    /// Creates a button with a title.
    ///
    /// - Parameters:
    ///   - title: The key of the title, or the title itself.
    ///   - role: The role, such as `.destructive`; `nil` for none.
    ///   - action: The action. Runs in a task of the button, on the main actor.
    public init(
        _ title: LocalizedStringKey,
        role: ButtonRole? = nil,
        action: @escaping @MainActor () async -> Void
    ) {
        self.init(role: role, action: action) { Text(title) }
    }
}

/// The running action of one button. SwiftUI creates it once for each button on the screen, and releases it with the button,
/// which cancels the action.
@MainActor final class AsyncButtonRun: ObservableObject {
    @Published private(set) var isRunning = false
    private let slot = TaskSlot(name: "AsyncButton", behavior: .preferPrevious)

    func start(_ action: @escaping @MainActor () async -> Void) {
        guard !isRunning else { return }
        isRunning = true
        slot.addTask { [weak self] in
            await action()
            self?.isRunning = false
        }
    }

    /// Waits until no action runs, for tests.
    func drain() async throws { try await slot.drain() }
}
#endif
