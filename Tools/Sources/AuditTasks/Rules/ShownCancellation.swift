import SwiftSyntax

extension Context {
    /// Rule 10: a `catch` that shows a cancellation as an error.
    mutating func checkShownCancellations() {
        guard !file.isTest else { return }
        for attempt in file.tree.all(DoStmtSyntax.self) {
            guard let general = attempt.generalCatch, awaitsAndThrows(attempt.body) else { continue }
            let others = attempt.catchClauses.filter { $0.id != general.id }
            guard !others.contains(where: { knowsCancellation(Syntax($0.catchItems)) }),
                !knowsCancellation(Syntax(general))
            else { continue }
            // `catch` in a function that others call to find out whether it is cancelled.
            guard !attempt.body.text.contains("Task.isCancelled"), let owner = type(of: attempt),
                isShown(owner, attempt)
            else { continue }
            // Without a caller that can be cancelled, no cancellation arrives.
            guard let canceller = canceller(of: attempt) else { continue }
            let error = errorName(of: general)
            guard let shown = shown(in: general, error: error, owner: owner) else { continue }
            report(
                .shownCancellation,
                .warning,
                at: general,
                "this `catch` also catches the cancellation of \(canceller), and \(shown): a user who leaves sees an error",
                fix: edit(attempt, general)
            )
        }
    }

    /// Whether a type is a part of a user interface, as far as its declaration and its name tell.
    private func isShown(_ owner: TypeInfo, _ node: some SyntaxProtocol) -> Bool {
        if owner.kind == .actor { return false }
        if owner.attributes.contains("MainActor") || owner.attributes.contains("Observable")
            || owner.inherits.contains("ObservableObject")
        {
            return true
        }
        if owner.inherits.contains("View")
            || owner.properties.values.contains(where: {
                !$0.attributes.filter { ["State", "Published", "Binding", "StateObject"].contains($0) }.isEmpty
            })
        {
            return true
        }
        if index.isIsolated(owner, module: file.module) { return true }
        if case .function(let function) = Scope(of: node, skippingClosures: true),
            function.attributeNames.contains("MainActor")
        {
            return true
        }
        return [
            "View", "Model", "Controller", "Screen", "Presenter", "Coordinator", "Store", "Page", "Cell", "Scene",
            "Window",
        ].contains { owner.shortName.hasSuffix($0) }
    }

    private func awaitsAndThrows(_ body: CodeBlockSyntax) -> Bool {
        body.all(TryExprSyntax.self, skip: isOwnTask).contains { attempt in
            guard attempt.questionOrExclamationMark == nil, !attempt.awaits().isEmpty else { return false }
            // A continuation around a callback throws what the callback says, and no cancellation.
            if let call = attempt.expression.unwrapped.as(FunctionCallExprSyntax.self), let name = call.calledName,
                name.hasPrefix("with"), name.hasSuffix("Continuation")
            {
                return false
            }
            return !attempt.ancestors.prefix { $0.id != body.id }.contains {
                $0.as(DoStmtSyntax.self)?.generalCatch != nil
            }
        }
    }

    /// Whether code asks for a cancellation: itself, or in a function of the file that it passes the error to.
    private func knowsCancellation(_ node: Syntax) -> Bool {
        asksForCancellation(node)
            || node.all(FunctionCallExprSyntax.self).contains { call in
                guard let name = call.calledName, !call.arguments.isEmpty else { return false }
                return functions.contains { function in
                    function.name.text == name && function.body.map { asksForCancellation(Syntax($0)) } ?? false
                }
            }
    }

    private func asksForCancellation(_ node: Syntax) -> Bool {
        node.hasNode { node in
            if let reference = node.as(DeclReferenceExprSyntax.self) {
                return reference.baseName.text.lowercased().contains("cancel")
            }
            if let type = node.as(IdentifierTypeSyntax.self) { return type.name.text.lowercased().contains("cancel") }
            return false
        }
    }

    private func errorName(of clause: CatchClauseSyntax) -> String {
        guard let pattern = clause.catchItems.first?.pattern?.as(ValueBindingPatternSyntax.self)?.pattern else {
            return "error"
        }
        return pattern.text
    }

    private static let errorWords = ["error", "alert", "failure", "failed", "toast", "banner", "message", "snackbar"]
    private static let stateWords = ["state", "status", "phase", "content", "viewstate", "result"]
    private static let showing = ["show", "present", "display", "alert"]

    /// The effect of a `catch` that a user sees, as part of a sentence.
    private func shown(in clause: CatchClauseSyntax, error: String, owner: TypeInfo) -> String? {
        let body = Syntax(clause.body)
        let locals = Scope(of: clause, skippingClosures: true).node.map { localNames($0) } ?? []
        for mutation in Mutation.all(in: body, skip: { isOwnTask($0) && !isMainActorTask($0) }) {
            guard mutation.isAssignment || mutation.method == "append", let value = mutation.values.first else {
                continue
            }
            guard mutation.root.viaSelf || optionalOwner(mutation.target) || !locals.contains(mutation.root.name) else {
                continue
            }
            guard isOwned(mutation, owner) else { continue }
            let target = mutation.target.text.replacingPrefix("self?.").replacingPrefix("self.")
            let last = (mutation.target.lastName ?? target).lowercased()
            let text = value.text
            let saysError = mentions(error, in: Syntax(value)) || text.contains(".fail") || text.contains(".error")
            if Self.errorWords.contains(where: { last.contains($0) }), text != "nil", text != "false",
                !last.hasPrefix("last"), !last.hasPrefix("first")
            {
                return "sets `\(target)`"
            }
            if saysError, Self.stateWords.contains(where: { last.hasSuffix($0) }) { return "sets `\(target)`" }
        }
        for call in body.all(FunctionCallExprSyntax.self, skip: { isOwnTask($0) && !isMainActorTask($0) }) {
            guard let name = call.calledName?.lowercased(),
                let prefix = Self.showing.first(where: { name.hasPrefix($0) })
            else { continue }
            guard name != prefix || call.arguments.contains(where: { mentions(error, in: Syntax($0)) }) else {
                continue
            }
            guard
                name.containsAny(Self.errorWords) || call.arguments.contains(where: { mentions(error, in: Syntax($0)) })
                    || name == "present"
            else { continue }
            return "calls `\(call.calledName ?? name)`"
        }
        return nil
    }

    private func isMainActorTask(_ node: Syntax) -> Bool {
        guard let closure = node.as(ClosureExprSyntax.self), closure.call?.isTaskCreation == true else { return false }
        return closure.attributeNames.contains("MainActor")
    }

    private func optionalOwner(_ target: ExprSyntax) -> Bool { target.text.hasPrefix("self?.") }

    private func isOwned(_ mutation: Mutation, _ owner: TypeInfo) -> Bool {
        if optionalOwner(mutation.target) || mutation.root.viaSelf { return true }
        if index.property(mutation.root.name, of: owner, module: file.module) != nil { return true }
        // `model.error = error`, `strongSelf.error = error`.
        return !mutation.root.isWhole
    }

    /// A `catch` for the cancellation in front of one that only shows an error: where it does more, that would be skipped.
    private func edit(_ attempt: DoStmtSyntax, _ clause: CatchClauseSyntax) -> [Edit] {
        guard !clause.body.leaves, attempt.throwsClause == nil, clause.body.statements.count == 1,
            clause.catchItems.isEmpty, attempt.catchClauses.count == 1
        else { return [] }
        // A state such as `.loading` would stay.
        if let mutation = Mutation.all(in: Syntax(clause.body), skip: { _ in false }).first {
            let name = (mutation.target.lastName ?? "").lowercased()
            guard !Self.stateWords.contains(where: { name.hasSuffix($0) }) else { return [] }
        }
        // A function that returns behind the `catch` clauses would return without a value.
        guard !attempt.body.leaves, !clause.body.text.contains("continuation") else { return [] }
        let indentation = indentation(
            of: attempt.ancestors.first { $0.is(CodeBlockItemSyntax.self) } ?? Syntax(attempt)
        )
        return [
            Edit(
                insert:
                    "catch is CancellationError {\n\(indentation)    // Nobody waits for the result any more.\n\(indentation)} ",
                at: clause.catchKeyword.positionAfterSkippingLeadingTrivia.utf8Offset
            )
        ]
    }
}
