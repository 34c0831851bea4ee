#if canImport(SwiftUI)
public import SwiftUI
public import TaskControl

extension View {
    /// Adds a task to a slot when the view appears, and again when a value changes. The slot decides what happens to the task
    /// that is in it.
    ///
    /// ```swift
    /// // `search` is a TaskSlot with the behavior `.debounce(for: .milliseconds(300))`.
    /// List(model.items) { Text($0.title) }
    ///     .searchable(text: $model.text)
    ///     .task(id: model.text, in: model.search) { await model.load() }
    /// ```
    ///
    /// `task(id:)` of SwiftUI cancels the previous task, and has no other rule. Here the behavior of the slot applies: it can
    /// wait for a pause, keep the latest, or let the running task end. The object that creates the slot, usually a
    /// model, can observe and cancel it.
    ///
    /// ## Cancellation
    /// When the view disappears, the tasks that it has added are cancelled, one per value of `id` that the slot has not ended
    /// yet. Tasks that other views or the model have added to the slot continue.
    ///
    /// - Parameters:
    ///   - id: The value. A new task is added for each change of it.
    ///   - slot: The slot that owns the tasks.
    ///   - action: The work. Runs on the main actor.
    /// - Returns: A view with this behavior.
    public func task<ID: Equatable>(
        id: ID,
        in slot: TaskSlot,
        _ action: @escaping @MainActor () async -> Void
    ) -> some View {
        modifier(TaskInSlot(id: id, slot: slot, action: action))
    }

    /// Adds a task to a slot when the view appears. The slot decides what happens to the task that is in it.
    ///
    /// ```swift
    /// FeedList(items: model.items)
    ///     .task(in: model.loads) { await model.load() }
    /// ```
    ///
    /// ## Cancellation
    /// When the view disappears, the task that it has added is cancelled. Tasks that other views or the model have added to
    /// the slot continue.
    ///
    /// - Parameters:
    ///   - slot: The slot that owns the task.
    ///   - action: The work. Runs on the main actor.
    /// - Returns: A view with this behavior.
    public func task(in slot: TaskSlot, _ action: @escaping @MainActor () async -> Void) -> some View {
        task(id: true, in: slot, action)
    }
}

private struct TaskInSlot<ID: Equatable>: ViewModifier {
    let id: ID
    let slot: TaskSlot
    let action: @MainActor () async -> Void
    @State private var added = AddedTasks()

    func body(content: Content) -> some View {
        content.task(id: id) { @MainActor in
            // The view has disappeared before this task could begin.
            if Task.isCancelled { return }
            // Added and not awaited: a change of the value must not cancel what the slot lets run.
            added.add(to: slot, action)
        }
        .onDisappear { added.cancelAll() }
    }
}
#endif
