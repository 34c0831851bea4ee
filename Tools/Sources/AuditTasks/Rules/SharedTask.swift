import SwiftSyntax

extension Context {
    /// Rule 6: a cache of tasks that keeps failures, and a shared task that ends with its first caller.
    mutating func checkSharedTasks() {
        for task in tasks {
            guard case .stored(let store) = task.fate, store.key != "+", let owner = type(of: task.call),
                let scope = Scope(of: task.call, skippingClosures: true).node
            else { continue }
            let joins = joins(of: store, in: scope)
            guard !joins.isEmpty else { continue }
            checkFailures(of: task, store, owner, scope, joins)
            checkCancellation(of: task, store, scope, joins)
        }
        for function in functions { checkWaiters(function) }
    }

    /// The waits for a task that an earlier caller has stored.
    private func joins(of store: TaskCreation.Store, in scope: Syntax) -> [MemberAccessExprSyntax] {
        scope.all(MemberAccessExprSyntax.self).filter { member in
            guard ["value", "result", "get"].contains(member.declName.baseName.text),
                member.position < store.node.position,
                let root = member.base?.root
            else { return false }
            return root.name == store.name || refers(root.name, to: store.name, in: scope, before: member)
        }
    }

    /// Whether a name was bound to what a property holds, directly or in a pattern of a `switch`.
    private func refers(_ name: String, to property: String, in scope: Syntax, before place: some SyntaxProtocol)
        -> Bool
    {
        for ancestor in place.ancestors {
            if let condition = ancestor.as(IfExprSyntax.self),
                binds(name, to: property, in: Syntax(condition.conditions), scope)
            {
                return true
            }
            if let choice = ancestor.as(SwitchExprSyntax.self),
                mentions(property, in: Syntax(choice.subject)) || aliased(choice.subject, property, scope)
            {
                return true
            }
            if ancestor.id == scope.id { break }
        }
        return scope.hasNode { node in
            guard node.position < place.position else { return false }
            if let condition = node.as(GuardStmtSyntax.self) {
                return binds(name, to: property, in: Syntax(condition.conditions), scope)
            }
            if let binding = node.as(PatternBindingSyntax.self), let value = binding.initializer {
                return binding.pattern.text == name && mentions(property, in: Syntax(value))
            }
            return false
        }
    }

    private func binds(_ name: String, to property: String, in conditions: Syntax, _ scope: Syntax) -> Bool {
        conditions.hasNode { node in
            if let binding = node.as(OptionalBindingConditionSyntax.self) {
                guard binding.pattern.text == name else { return false }
                guard let value = binding.initializer?.value else { return name == property }
                return mentions(property, in: Syntax(value)) || aliased(value, property, scope)
            }
            if let match = node.as(MatchingPatternConditionSyntax.self) {
                return match.pattern.text.contains(name) && mentions(property, in: Syntax(match.initializer))
            }
            return false
        }
    }

    private func aliased(_ value: ExprSyntax, _ property: String, _ scope: Syntax) -> Bool {
        guard let name = value.root?.name, name != property else { return false }
        return scope.hasNode { node in
            if let binding = node.as(OptionalBindingConditionSyntax.self), let value = binding.initializer {
                return binding.pattern.text == name && mentions(property, in: Syntax(value))
            }
            if let binding = node.as(PatternBindingSyntax.self), let value = binding.initializer {
                return binding.pattern.text == name && mentions(property, in: Syntax(value))
            }
            return false
        }
    }

    func mentions(_ name: String, in node: Syntax) -> Bool {
        func isMention(_ node: Syntax) -> Bool {
            if let reference = node.as(DeclReferenceExprSyntax.self) { return reference.baseName.text == name }
            // `if let name`
            guard let binding = node.as(OptionalBindingConditionSyntax.self) else { return false }
            return binding.initializer == nil && binding.pattern.text == name
        }
        return isMention(node) || node.hasNode(where: isMention)
    }

    private mutating func checkFailures(
        of task: TaskCreation,
        _ store: TaskCreation.Store,
        _ owner: TypeInfo,
        _ scope: Syntax,
        _ joins: [MemberAccessExprSyntax]
    ) {
        let canFail = joins.contains { join in
            join.ancestors.contains { $0.as(TryExprSyntax.self).map { $0.questionOrExclamationMark == nil } ?? false }
        }
        guard canFail else { return }
        let isRemoved =
            removals(of: store.name, in: scope, owner: owner).contains { happensOnFailure($0, scope: scope) }
            || removesInHelper(of: store.name, task, owner)
        guard !isRemoved else { return }
        report(
            .sharedTask,
            .warning,
            at: task.call,
            "a failure stays in `\(store.name)` of `\(owner.shortName)`: every later caller receives the old error, also after a cancellation"
        )
    }

    /// The places in a function where a property loses a task: itself, or in a method that it calls.
    private func removals(of name: String, in scope: Syntax, owner: TypeInfo) -> [Syntax] {
        let direct = Mutation.all(in: scope, skip: { _ in false }).filter { mutation in
            guard mutation.root.name == name else { return false }
            return mutation.isReset || isInFailure(mutation.node)
        }
        let calls = scope.all(FunctionCallExprSyntax.self).filter { call in
            guard let called = call.calledName, call.base == nil || call.base?.unwrapped.text == "self" else {
                return false
            }
            return methods(called, of: owner).contains { method in
                method.id != scope.id
                    && method.body.map {
                        Mutation.all(in: Syntax($0), skip: { _ in false }).contains {
                            $0.root.name == name && $0.isReset
                        }
                    } ?? false
            }
        }
        return direct.map(\.node) + calls.map { Syntax($0) }
    }

    private func removesInHelper(of name: String, _ task: TaskCreation, _ owner: TypeInfo) -> Bool {
        task.closure.all(FunctionCallExprSyntax.self).contains { call in
            guard let called = call.calledName else { return false }
            return methods(called, of: owner).contains { method in
                guard let body = method.body else { return false }
                return Mutation.all(in: Syntax(body), skip: { _ in false }).contains {
                    $0.root.name == name && $0.isReset && happensOnFailure($0.node, scope: Syntax(method))
                } && (happensOnFailure(Syntax(call), scope: Syntax(task.closure)) || method.throwsErrors)
            }
        }
    }

    private func isInFailure(_ node: Syntax) -> Bool {
        node.ancestors.contains { ancestor in
            ancestor.is(CatchClauseSyntax.self) || ancestor.is(DeferStmtSyntax.self)
                || ancestor.as(SwitchCaseSyntax.self).map { $0.label.text.contains("failure") } == true
                || ancestor.as(IfExprSyntax.self).map { $0.conditions.text.contains("failure") } == true
        }
    }

    /// Whether code runs when the task has failed: in `defer` or `catch`, or where nothing has thrown.
    private func happensOnFailure(_ node: Syntax, scope: Syntax) -> Bool {
        if isInFailure(node) { return true }
        let place = Scope(of: node).node ?? scope
        let throwing = place.all(TryExprSyntax.self, skip: { isOwnTask($0) && !$0.encloses(node) }).filter { attempt in
            attempt.questionOrExclamationMark == nil && attempt.end <= node.position
                && !isInLeavingBranch(attempt, in: place)
        }
        // A removal of what was there before the task is not one of a failed task.
        let awaits = place.awaits(skip: { isOwnTask($0) && !$0.encloses(node) }).filter {
            $0.position < node.position && !isInLeavingBranch($0, in: place)
        }
        return throwing.isEmpty && !awaits.isEmpty
    }

    private func isInLeavingBranch(_ node: some SyntaxProtocol, in scope: Syntax) -> Bool {
        for ancestor in node.ancestors {
            if ancestor.id == scope.id { return false }
            if ancestor.is(ReturnStmtSyntax.self) { return true }
            if let block = ancestor.as(CodeBlockSyntax.self), block.leaves, block.parent?.is(IfExprSyntax.self) == true
            {
                return true
            }
        }
        return false
    }

    private mutating func checkCancellation(
        of task: TaskCreation,
        _ store: TaskCreation.Store,
        _ scope: Syntax,
        _ joins: [MemberAccessExprSyntax]
    ) {
        let joined = Set(joins.compactMap { $0.base?.root?.name })
        for call in scope.all(FunctionCallExprSyntax.self) where call.calledName == "cancel" {
            guard let root = call.base?.root else { continue }
            guard root.name == store.name || root.name == store.local || joined.contains(root.name) else { continue }
            var place: Syntax?
            for ancestor in call.ancestors {
                if let closure = ancestor.as(ClosureExprSyntax.self), closure.label == "onCancel" {
                    place = Syntax(closure)
                }
                if ancestor.is(DeferStmtSyntax.self) { place = ancestor }
                if ancestor.as(CatchClauseSyntax.self)?.catchItems.text.contains("CancellationError") == true {
                    place = ancestor
                }
                if place != nil || ancestor.id == scope.id { break }
            }
            guard let place else { continue }
            // Callers are counted, and the last one cancels.
            let counts = ["waiter", "count", "caller", "subscriber", "reference", "== 0", "isEmpty"]
            guard !counts.contains(where: { place.text.contains($0) }) else { continue }
            report(
                .sharedTask,
                .warning,
                at: call,
                "a cancelled caller cancels the task in `\(store.name)`, for which other callers wait too: their calls fail with it"
            )
            return
        }
    }

    /// Callers that wait with continuations for the work of the first caller, which can fail or be cancelled.
    private mutating func checkWaiters(_ function: FunctionDeclSyntax) {
        guard function.isAsync, let body = function.body, let owner = type(of: function), owner.isReference else {
            return
        }
        let locals = localNames(Syntax(function))
        let continuations = body.all(FunctionCallExprSyntax.self).filter {
            ($0.calledName ?? "").hasSuffix("Continuation") && ($0.calledName ?? "").hasPrefix("with")
        }
        for call in continuations {
            guard let closure = call.closures.last,
                let store = Mutation.all(in: Syntax(closure), skip: { _ in false }).first(where: {
                    $0.method == "append"
                }),
                let name = property(store.root, in: owner, locals: locals.subtracting([store.root.name])),
                isInLeavingBranch(call, in: Syntax(body))
            else { continue }
            let work = body.all(TryExprSyntax.self, skip: isOwnTask).first { attempt in
                attempt.questionOrExclamationMark == nil && attempt.position >= call.end && !attempt.awaits().isEmpty
                    && !attempt.ancestors.contains { $0.is(DoStmtSyntax.self) }
            }
            guard let work else { continue }
            let isResumedOnFailure = body.hasNode { node in
                guard node.is(DeferStmtSyntax.self) || node.is(CatchClauseSyntax.self) else { return false }
                return node.text.contains(name) || node.text.contains("resume")
            }
            guard !isResumedOnFailure, body.hasNode(where: { $0.position >= work.end && mentions(name, in: $0) }) else {
                continue
            }
            report(
                .sharedTask,
                .error,
                at: work,
                "the callers in `\(name)` wait for the work of the first caller: if that fails or is cancelled, nothing resumes them"
            )
        }
    }
}
