import SwiftSyntax

extension Context {
    /// Rule 6: a cache of tasks that keeps failures, and a shared task that ends with its first caller.
    mutating func checkSharedTasks() {
        for task in tasks {
            guard case .stored(let store) = task.fate, store.key != "+", let owner = type(of: task.call),
                let scope = Scope(of: task.call, skippingClosures: true).node
            else { continue }
            checkLateEntry(of: task, store, owner)
            checkIdentity(of: task, store, owner, scope)
            checkSharedHandle(of: task, store, owner, scope)
            let joins = joins(of: store, in: scope)
            guard !joins.isEmpty else { continue }
            checkFailures(of: task, store, owner, scope, joins)
            checkCancellation(of: task, store, scope, joins)
        }
        for task in tasks {
            checkForgetting(task)
            checkChain(task)
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

    /// Whether the code of a type runs on one actor, whose tasks do not begin before its function awaits.
    private func isIsolated(_ node: some SyntaxProtocol, owner: TypeInfo) -> Bool {
        guard case .function(let function) = Scope(of: node, skippingClosures: true) else {
            return index.isIsolated(owner, module: file.module)
        }
        return isIsolated(function, in: owner)
    }

    /// An entry that its task removes, and that is stored after the task was started: a fast task removes nothing.
    private mutating func checkLateEntry(of task: TaskCreation, _ store: TaskCreation.Store, _ owner: TypeInfo) {
        guard store.local != nil, owner.kind == .class, !isIsolated(task.call, owner: owner),
            !task.closure.attributeNames.contains(where: { $0.hasSuffix("Actor") })
        else { return }
        let name = store.name.hasPrefix("$") ? lockedName(of: store.node) ?? store.name : store.name
        let removes = removals(in: Syntax(task.closure.statements), of: name, owner: owner)
        guard !removes.isEmpty else { return }
        // A lock around both is waited for by the task.
        let isLocked = store.node.ancestors.prefix { $0.id != Scope(of: task.call, skippingClosures: true).node?.id }
            .contains {
                $0.as(ClosureExprSyntax.self).map {
                    $0.encloses(task.call) && ($0.call?.calledName ?? "").hasPrefix("with")
                } ?? false
            }
        guard !isLocked else { return }
        report(
            .sharedTask,
            .error,
            at: task.call,
            "the entry in `\(name)` is stored after its task was started, and the task removes it: a task that is faster leaves its entry for ever"
        )
    }

    /// A task that has ended removes the entry of its key, though a newer task may be stored there by now.
    private mutating func checkIdentity(
        of task: TaskCreation,
        _ store: TaskCreation.Store,
        _ owner: TypeInfo,
        _ scope: Syntax
    ) {
        guard let key = store.key, key != "+" else { return }
        // A newer one can be there only if something removes or cancels the entry while its task runs.
        let others = replacers(of: store.name, owner: owner, in: scope)
        guard !others.isEmpty || cancelsEntry(store, in: scope) else { return }
        if isFreshKey(key, in: scope) { return }
        let inTask = removals(in: Syntax(task.closure.statements), of: store.name, owner: owner).filter { node in
            task.closure.statements.awaits(skip: isOwnTask).contains { $0.position < node.position }
                || node.ancestors.contains { $0.is(DeferStmtSyntax.self) }
        }
        let afterwards = Mutation.all(in: scope, skip: isOwnTask).filter { mutation in
            mutation.root.name == store.name && mutation.isReset && mutation.method != "removeAll"
                && mutation.node.position > store.node.end
                && (mutation.node.ancestors.contains { $0.is(DeferStmtSyntax.self) }
                    || scope.awaits(skip: isOwnTask).contains {
                        $0.position > store.node.position && $0.position < mutation.node.position
                    })
        }.map(\.node)
        guard let removal = (inTask + afterwards).first(where: { !isIdentified($0, store, in: scope) }) else { return }
        report(
            .sharedTask,
            .warning,
            at: removal,
            "a task that has ended removes the entry of `\(store.name)` without a look at whose it is: after `\(others.first ?? "cancel")`, that is the entry of a newer task"
        )
    }

    /// A task that its function returns, and that removes an entry when it has failed, though another function may have replaced it.
    private mutating func checkForgetting(_ task: TaskCreation) {
        guard task.isKept || task.call.parent?.is(ReturnStmtSyntax.self) == true, let owner = type(of: task.call),
            owner.isReference,
            !file.isTest
        else { return }
        let awaits = task.closure.statements.awaits(skip: isOwnTask)
        for removal in Mutation.all(in: Syntax(task.closure.statements), skip: isOwnTask) {
            guard
                removal.method == "removeValue"
                    || removal.isReset && removal.target.unwrapped.is(SubscriptCallExprSyntax.self),
                let first = awaits.first, first.position < removal.node.position,
                owner.properties[removal.root.name]?.type?.contains("Task<") == true
                    || owner.properties[removal.root.name]?.type?.hasPrefix("[") == true,
                !isComparedBefore(removal.node, in: Syntax(task.closure.statements))
            else { continue }
            let name = removal.root.name
            let replacer = owner.methods.sorted { $0.key < $1.key }.first { _, methods in
                methods.contains { method in
                    guard let body = method.body,
                        !body.hasNode(where: { $0.is(ConditionElementListSyntax.self) && mentions(name, in: $0) })
                    else { return false }
                    return Mutation.all(in: Syntax(body), skip: isOwnTask).contains {
                        $0.root.name == name && $0.isAssignment && !$0.isReset
                            && $0.target.unwrapped.is(SubscriptCallExprSyntax.self)
                    }
                }
            }
            guard let replacer else { continue }
            report(
                .sharedTask,
                .warning,
                at: removal.node,
                "a task that has failed removes the entry of `\(name)` without a look at whose it is: after `\(replacer.key)`, that is the entry of a newer task"
            )
            return
        }
    }

    private func isComparedBefore(_ node: Syntax, in body: Syntax) -> Bool {
        body.hasNode { other in
            guard let list = other.as(ConditionElementListSyntax.self), list.position < node.position else {
                return false
            }
            return list.checksCancellation()
                || list.hasNode {
                    ["==", "===", "!=", "!=="].contains($0.as(BinaryOperatorExprSyntax.self)?.operator.text ?? "")
                }
        }
    }

    /// A task that awaits the one before it: its caller, when cancelled, waits for that one.
    private mutating func checkChain(_ task: TaskCreation) {
        guard let owner = type(of: task.call), !file.isTest,
            case .function(let function) = Scope(of: task.call, skippingClosures: true), function.isAsync,
            case .stored(let store) = task.fate, store.key == nil, let local = store.local
        else { return }
        // The task before, captured by its name.
        let captured = task.closure.signature?.capture?.items.contains { $0.name.text == store.name } ?? false
        guard captured, index.property(store.name, of: owner, module: file.module) != nil else { return }
        let waits = task.closure.statements.all(MemberAccessExprSyntax.self, skip: isOwnTask).contains {
            ["value", "result"].contains($0.declName.baseName.text) && $0.base?.root?.name == store.name
                && $0.ancestors.contains { $0.is(AwaitExprSyntax.self) }
        }
        let cancels =
            function.body?.all(FunctionCallExprSyntax.self).contains { call in
                call.calledName == "cancel" && call.base?.root?.name == local
                    && call.ancestors.contains { $0.as(ClosureExprSyntax.self)?.label == "onCancel" }
            } ?? false
        guard waits, cancels else { return }
        report(
            .sharedTask,
            .warning,
            at: task.call,
            "a cancelled caller of `\(function.name.text)` waits for the task before its own: a cancellation does not end `await \(store.name).value`"
        )
    }

    /// A function that returns the stored task, or a new one: its callers await it, and nothing removes a failure.
    private mutating func checkSharedHandle(
        of task: TaskCreation,
        _ store: TaskCreation.Store,
        _ owner: TypeInfo,
        _ scope: Syntax
    ) {
        guard let function = scope.as(FunctionDeclSyntax.self), store.key != nil,
            let result = function.signature.returnClause?.type.text, result.contains("Task<"), result.contains("Error")
        else { return }
        let returnsKnown = scope.all(ReturnStmtSyntax.self, skip: isOwnTask).contains { end in
            end.position < store.node.position
                && end.expression?.root.map { root in
                    root.name == store.name || refers(root.name, to: store.name, in: scope, before: end)
                } ?? false
        }
        let isRemoved = owner.methods.values.joined().contains { method in
            method.body.map { body in
                Mutation.all(in: Syntax(body), skip: { _ in false }).contains {
                    $0.root.name == store.name && $0.isReset && $0.method != "removeAll"
                }
            } ?? false
        }
        guard returnsKnown, !isRemoved else { return }
        report(
            .sharedTask,
            .warning,
            at: task.call,
            "a failure stays in `\(store.name)` of `\(owner.shortName)`: every later caller of `\(function.name.text)` receives the old error"
        )
    }

    private func removals(in body: Syntax, of name: String, owner: TypeInfo) -> [Syntax] {
        let direct = Mutation.all(in: body, skip: { _ in false }).filter {
            guard $0.isReset, $0.method != "removeAll" else { return false }
            return $0.root.name == name || ($0.root.name.hasPrefix("$") && lockedName(of: $0.node) == name)
        }.map(\.node)
        let called = body.all(FunctionCallExprSyntax.self).filter { call in
            guard let called = call.calledName, call.base == nil || call.base?.unwrapped.isSelf == true else {
                return false
            }
            return methods(called, of: owner).contains { method in
                method.body.map { body in
                    body.statements.count == 1
                        && Mutation.all(in: Syntax(body), skip: { _ in false }).contains {
                            $0.root.name == name && $0.isReset && $0.method != "removeAll"
                        }
                } ?? false
            }
        }
        return direct + called.map { Syntax($0) }
    }

    /// The property whose lock a closure holds: `state` in `state.withLock { $0[id] = nil }`.
    private func lockedName(of node: Syntax) -> String? {
        for ancestor in node.ancestors {
            guard let closure = ancestor.as(ClosureExprSyntax.self) else { continue }
            guard let call = closure.call, call.calledName?.hasPrefix("with") == true else { return nil }
            return call.base?.root?.name
        }
        return nil
    }

    /// The other functions of a type that remove or cancel single entries.
    private func replacers(of name: String, owner: TypeInfo, in scope: Syntax) -> [String] {
        owner.methods.filter { _, methods in
            methods.contains { method in
                guard method.id != scope.id, let body = method.body, body.text.contains(".cancel()") else {
                    return false
                }
                return Mutation.all(in: Syntax(body), skip: { _ in false }).contains {
                    $0.root.name == name && $0.isReset && $0.method != "removeAll"
                }
            }
        }.keys.sorted()
    }

    /// Whether a function cancels the entry of its key before it stores another task there.
    private func cancelsEntry(_ store: TaskCreation.Store, in scope: Syntax) -> Bool {
        scope.all(FunctionCallExprSyntax.self, skip: isOwnTask).contains { call in
            call.calledName == "cancel" && call.position < store.node.end && call.base?.root?.name == store.name
        }
    }

    private func isFreshKey(_ key: String, in scope: Syntax) -> Bool {
        key.contains("UUID()") || key.lowercased().contains("next")
            || scope.hasNode { node in
                guard let binding = node.as(PatternBindingSyntax.self), binding.pattern.text == key else {
                    return false
                }
                return binding.initializer?.value.text.contains("UUID()") ?? false
            }
    }

    /// Whether a condition around a removal, or before it, says whose entry it is.
    private func isIdentified(_ removal: Syntax, _ store: TaskCreation.Store, in scope: Syntax) -> Bool {
        let place = Scope(of: removal).node ?? scope
        return place.hasNode { node in
            guard let list = node.as(ConditionElementListSyntax.self), list.position < removal.position,
                list.position > store.node.position || store.node.encloses(list)
            else { return false }
            if list.checksCancellation() { return true }
            return list.hasNode {
                ["==", "===", "!=", "!=="].contains($0.as(BinaryOperatorExprSyntax.self)?.operator.text ?? "")
            }
        }
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
