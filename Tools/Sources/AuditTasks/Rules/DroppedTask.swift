import SwiftSyntax

extension Context {
    /// Rule 1: a task whose handle is dropped, and that retains an owner with a lifetime.
    mutating func checkDroppedTasks() {
        for task in tasks where task.isDropped {
            guard let (owner, hold) = hold(of: task.closure), !owner.isProcessWide, !isTestCase(owner) else { continue }
            // The objects of a test live as long as the test, and a function that waits for a signal is the owner's caller.
            if file.isTest && hold.weight < .endless || signalsItsCreator(task) { continue }
            let kind = owner.kind == .actor ? "actor" : "class"
            switch hold.weight {
            case .nothing: continue
            case .hop:
                report(
                    .droppedTask,
                    .note,
                    at: task.call,
                    "the handle of this task is dropped, and it \(hold.way): the \(kind) `\(owner.shortName)` lives until the awaited call returns"
                )
            case .work:
                report(
                    .droppedTask,
                    .warning,
                    at: task.call,
                    "nothing can cancel this task, and it \(hold.way): the \(kind) `\(owner.shortName)` lives until the task ends"
                )
            case .endless:
                report(
                    .droppedTask,
                    .error,
                    at: task.call,
                    "nothing can cancel this task, and it \(hold.way): its loop keeps the \(kind) `\(owner.shortName)` alive as long as it runs"
                )
            }
        }
    }

    /// Whether the function that creates a task waits until the task has signalled its end.
    private func signalsItsCreator(_ task: TaskCreation) -> Bool {
        guard let body = Scope(of: task.call, skippingClosures: true).node else { return false }
        let signals = task.closure.all(FunctionCallExprSyntax.self).filter {
            ["signal", "leave", "fulfill"].contains($0.calledName ?? "")
        }
        let names = signals.compactMap { $0.base?.root?.name }
        return body.hasNode { node in
            guard let call = node.as(FunctionCallExprSyntax.self), call.position > task.call.position else {
                return false
            }
            return ["wait", "notify"].contains(call.calledName ?? "") && names.contains(call.base?.root?.name ?? "")
        }
    }

    func isTestCase(_ type: TypeInfo) -> Bool {
        index.inherits(type, from: ["XCTestCase"], module: file.module)
            || (file.isTest
                && (type.shortName.hasSuffix("Tests") || type.shortName.hasSuffix("TestCase")
                    || type.attributes.contains("Suite")))
    }
}
