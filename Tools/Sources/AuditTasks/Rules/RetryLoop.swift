import SwiftSyntax

extension Context {
    /// Rule 7: a loop that tries again at once, without end, or although it is cancelled.
    mutating func checkRetryLoops() {
        var loops: [Syntax] = []
        file.tree.walk { node in
            if isLoop(node), node.as(ForStmtSyntax.self)?.awaitKeyword == nil { loops.append(node) }
            return true
        }
        for task in tasks { checkReconnect(task) }
        for loop in loops {
            if file.isTest, !isUnbounded(loop) { continue }
            if checkRetry(loop) { continue }
            checkSleep(in: loop)
        }
    }

    /// A task that nothing can cancel, and that sleeps and connects again: `stop()` before it wakes is undone.
    private mutating func checkReconnect(_ task: TaskCreation) {
        guard task.isDropped, !file.isTest, let owner = type(of: task.call), owner.kind != .struct else { return }
        let statements = Array(task.closure.statements)
        guard
            let sleep = statements.firstIndex(where: { item in
                !item.item.is(GuardStmtSyntax.self)
                    && item.hasNode(skip: isOwnTask) { $0.as(FunctionCallExprSyntax.self)?.isSleep ?? false }
                    && !item.hasNode { $0.is(CodeBlockSyntax.self) }
            })
        else { return }
        let rest = statements[(sleep + 1)...]
        // A condition looks at whether the object still wants it.
        let looks = rest.contains { item in
            item.hasNode(where: { node in
                guard let list = node.as(ConditionElementListSyntax.self) else { return false }
                return !list.allSatisfy { $0.condition.as(OptionalBindingConditionSyntax.self)?.pattern.text == "self" }
            }) || item.checksCancellation()
        }
        let connects = rest.compactMap { item -> String? in
            guard let call = item.item.as(ExprSyntax.self)?.unwrapped.as(FunctionCallExprSyntax.self),
                call.base == nil || ["self", "self?"].contains(call.base?.text ?? ""), let name = call.calledName
            else { return nil }
            return ["connect", "reconnect", "start", "open", "resubscribe", "subscribe"].contains {
                name.lowercased().hasPrefix($0)
            } ? name : nil
        }
        let stop = owner.methods.sorted { $0.key < $1.key }.first { name, methods in
            ["stop", "disconnect", "close"].contains { name.lowercased().hasPrefix($0) }
                && methods.contains { $0.parameterNames.isEmpty }
        }
        guard !looks, let connects = connects.first, let stop,
            Scope(of: task.call, skippingClosures: true).name != connects
        else { return }
        report(
            .retryLoop,
            .warning,
            at: task.call,
            "this task sleeps and then calls `\(connects)`, and nothing can cancel it: after `\(stop.key)` it connects again"
        )
    }

    private func body(of loop: Syntax) -> CodeBlockSyntax? {
        loop.as(ForStmtSyntax.self)?.body ?? loop.as(WhileStmtSyntax.self)?.body ?? loop.as(RepeatStmtSyntax.self)?.body
    }

    private func isUnbounded(_ loop: Syntax) -> Bool {
        if let loop = loop.as(WhileStmtSyntax.self) { return loop.isUnbounded }
        return loop.as(RepeatStmtSyntax.self)?.condition.text == "true"
    }

    private func isInner(_ node: Syntax) -> Bool { isOwnTask(node) || isLoop(node) || node.is(ClosureExprSyntax.self) }

    /// Whether an error of a `try` leaves the loop.
    private func leavesLoop(_ attempt: TryExprSyntax, loop: Syntax) -> Bool {
        guard attempt.questionOrExclamationMark == nil else { return false }
        var inner = Syntax(attempt)
        for ancestor in attempt.ancestors {
            if ancestor.id == loop.id { return true }
            if let handled = ancestor.as(DoStmtSyntax.self), handled.body.id == inner.id,
                let general = handled.generalCatch, !general.body.leavesLoop
            {
                return false
            }
            inner = ancestor
        }
        return true
    }

    private func letsCancellationOut(_ loop: Syntax, _ body: CodeBlockSyntax) -> Bool {
        if loop.checksCancellation(skip: { isOwnTask($0) }) { return true }
        return body.all(TryExprSyntax.self, skip: isOwnTask).contains { attempt in
            leavesLoop(attempt, loop: loop) && (!attempt.awaits().isEmpty || attempt.text.contains("checkCancellation"))
        }
    }

    /// Whether a loop waits before it tries again.
    private func delays(_ body: CodeBlockSyntax) -> Bool {
        body.all(FunctionCallExprSyntax.self, skip: isOwnTask).contains { call in
            (call.calledName ?? "").containsAny([
                "sleep", "delay", "backoff", "wait", "pause", "after", "throttle", "retry",
            ])
                || (call.base?.text ?? "").containsAny(["backoff", "delay", "limiter", "timer"])
        }
    }

    private func hasCap(_ loop: Syntax, _ body: CodeBlockSyntax) -> Bool {
        if loop.is(ForStmtSyntax.self) { return true }
        if let loop = loop.as(WhileStmtSyntax.self), !loop.isUnbounded { return true }
        if let loop = loop.as(RepeatStmtSyntax.self), loop.condition.text != "true" { return true }
        // An error of something else ends the loop, such as that of a policy; or the `catch` decides whether to continue.
        let policy = body.all(TryExprSyntax.self, skip: isOwnTask).contains { isWork($0) && leavesLoop($0, loop: loop) }
        if policy
            || body.all(DoStmtSyntax.self, skip: isOwnTask).contains(where: {
                $0.generalCatch.map { decides($0.body) } ?? false
            })
        {
            return true
        }
        return body.hasNode(skip: isOwnTask) { node in
            let conditions = node.as(IfExprSyntax.self)?.conditions ?? node.as(GuardStmtSyntax.self)?.conditions
            guard let conditions else { return false }
            let block = node.as(IfExprSyntax.self)?.body ?? node.as(GuardStmtSyntax.self)?.body
            let other = node.as(IfExprSyntax.self)?.elseBody
            let leaves = block.map { $0.leavesLoop } ?? false
            var otherLeaves = false
            if let block = other?.as(CodeBlockSyntax.self) { otherLeaves = block.leavesLoop }
            guard leaves || otherLeaves else { return false }
            return conditions.hasNode {
                ["<", ">", "<=", ">=", "=="].contains($0.as(BinaryOperatorExprSyntax.self)?.operator.text ?? "")
            }
        }
            || body.hasNode(skip: isOwnTask) { node in
                node.as(CatchClauseSyntax.self).map { clause in
                    !clause.catchItems.isEmpty && clause.catchItems.text.contains("where")
                        && clause.catchItems.text.containsAny(["attempt", "retr", "count", "tries"])
                } ?? false
            }
    }

    /// Whether a `catch` leaves the loop on some condition, other than a cancellation.
    private func decides(_ body: CodeBlockSyntax) -> Bool {
        body.hasNode(skip: isDeferredCode) { node in
            if let condition = node.as(GuardStmtSyntax.self) {
                return condition.body.leavesLoop && !condition.conditions.text.lowercased().contains("cancel")
            }
            guard let condition = node.as(IfExprSyntax.self) else { return false }
            return condition.body.leavesLoop && !condition.conditions.text.lowercased().contains("cancel")
        }
    }

    /// Whether the code behind a `do` leaves the loop, so that its `catch` does not lead to another attempt.
    private func endsAfter(_ attempt: DoStmtSyntax) -> Bool {
        guard attempt.generalCatch?.body.statements.last?.item.is(ContinueStmtSyntax.self) != true else { return false }
        for ancestor in attempt.ancestors {
            if isLoop(ancestor) { return false }
            guard let last = ancestor.as(CodeBlockItemListSyntax.self)?.last, last.position > attempt.position else {
                continue
            }
            if last.item.leavesBlock, !last.item.is(ContinueStmtSyntax.self) { return true }
        }
        return false
    }

    /// Whether a loop ends in another way than by a success: in a case of a `switch`, or by a condition.
    private func endsElsewhere(_ attempt: Syntax, _ body: CodeBlockSyntax) -> Bool {
        body.hasNode(skip: { isOwnTask($0) || $0.id == attempt.id }) { $0.is(ReturnStmtSyntax.self) }
    }

    private mutating func checkRetry(_ loop: Syntax) -> Bool {
        guard let body = body(of: loop) else { return false }
        if let loop = loop.as(ForStmtSyntax.self), !isAttempts(loop) { return false }
        var attempt: Syntax?
        var succeeds = false
        for node in body.all(DoStmtSyntax.self, skip: isInner) {
            guard let general = node.generalCatch, !general.body.leavesLoop, !endsAfter(node) else { continue }
            guard
                node.body.all(TryExprSyntax.self, skip: isOwnTask).contains(where: {
                    $0.questionOrExclamationMark == nil && isWork($0)
                })
            else { continue }
            attempt = Syntax(node)
            succeeds = node.body.exitsLoop || isFollowedByExit(Syntax(node), in: body)
            break
        }
        if attempt == nil {
            for node in body.all(TryExprSyntax.self, skip: isInner)
            where node.questionOrExclamationMark?.text == "?" && isWork(node) {
                // `if let value = try? await load() { return value }`
                let condition = node.ancestors.first {
                    $0.is(IfExprSyntax.self) || $0.is(GuardStmtSyntax.self) || $0.id == body.id
                }
                if let condition = condition?.as(IfExprSyntax.self), condition.conditions.encloses(node),
                    condition.body.exitsLoop
                {
                    attempt = Syntax(node)
                } else if let condition = condition?.as(GuardStmtSyntax.self), condition.conditions.encloses(node),
                    !condition.body.leavesLoop,
                    isFollowedByExit(Syntax(condition), in: body)
                {
                    attempt = Syntax(node)
                } else if let binding = node.parent?.parent?.as(PatternBindingSyntax.self),
                    isExit(binding.pattern.text, in: body)
                {
                    attempt = Syntax(node)
                }
                if attempt != nil { succeeds = true; break }
            }
        }
        guard let attempt else { return false }
        // A `for` loop without an exit is a list of things to do, and not a retry.
        if loop.is(ForStmtSyntax.self), !succeeds { return false }
        // A loop over a condition that is about something else, such as a queue that is worked off.
        if !loop.is(ForStmtSyntax.self), !succeeds, !isUnbounded(loop) || endsElsewhere(attempt, body),
            !onlyLogs(attempt, loop)
        {
            return false
        }
        if takesAnother(body, attempt) || asksPolicy(attempt) { return false }
        if loop.as(WhileStmtSyntax.self)?.conditions.contains(where: {
            $0.condition.is(OptionalBindingConditionSyntax.self)
        }) == true {
            return false
        }

        var defects: [String] = []
        let lets = letsCancellationOut(loop, body)
        if !delays(body) { defects.append("without a delay") }
        if succeeds, !hasCap(loop, body) { defects.append("without a limit") }
        if !lets { defects.append("although its task is cancelled") }
        // A loop that waits and that its owner can cancel has a limit: its owner.
        guard !defects.isEmpty, defects != ["without a limit"] || isInDroppedTask(loop) else { return false }
        let text =
            defects.count == 1 ? defects[0] : defects.dropLast().joined(separator: ", ") + " and " + defects.last!
        report(
            .retryLoop,
            isUnbounded(loop) && !lets ? .error : .warning,
            at: loop,
            "this loop tries again \(text)",
            fix: defects == ["although its task is cancelled"] ? cancellationEdit(attempt, loop) : []
        )
        return true
    }

    /// Whether a `catch` asks other code whether to try again: a function that throws, or that says so in its name.
    private func asksPolicy(_ attempt: Syntax) -> Bool {
        guard let clause = attempt.as(DoStmtSyntax.self)?.generalCatch else { return false }
        if clause.body.all(TryExprSyntax.self, skip: isDeferredCode).contains(where: {
            $0.questionOrExclamationMark == nil && !$0.hasNode { $0.as(FunctionCallExprSyntax.self)?.isSleep ?? false }
                && !$0.text.contains("checkCancellation")
        }) {
            return true
        }
        return clause.body.all(ConditionElementListSyntax.self).contains { list in
            list.all(FunctionCallExprSyntax.self).contains {
                ($0.calledName ?? "").containsAny(["retr", "repeat", "should", "handler", "recover"])
            }
        }
    }

    /// Whether the loop cannot be cancelled: it is in a task whose handle is dropped.
    private func isInDroppedTask(_ loop: Syntax) -> Bool {
        guard
            let closure = loop.ancestors.lazy.compactMap({ $0.as(ClosureExprSyntax.self) }).first(where: { _ in true }),
            let call = closure.call, call.isTaskCreation
        else { return false }
        return TaskCreation(call)?.isDropped ?? false
    }

    /// Whether a `catch` only logs, in a loop over a flag: the next turn does the same again.
    private func onlyLogs(_ attempt: Syntax, _ loop: Syntax) -> Bool {
        guard let clause = attempt.as(DoStmtSyntax.self)?.generalCatch, let loop = loop.as(WhileStmtSyntax.self),
            loop.conditions.count == 1, let condition = loop.conditions.first?.condition.as(ExprSyntax.self),
            condition.is(DeclReferenceExprSyntax.self) || condition.is(PrefixOperatorExprSyntax.self)
                || condition.as(MemberAccessExprSyntax.self)?.base?.isSelf == true,
            !loop.body.statements.contains(where: { $0.item.is(GuardStmtSyntax.self) })
        else { return false }
        return clause.body.statements.allSatisfy { item in
            if item.item.is(ContinueStmtSyntax.self) { return true }
            guard let call = item.item.as(ExprSyntax.self)?.unwrapped.as(FunctionCallExprSyntax.self) else {
                return false
            }
            return call.text.lowercased().containsAny(["log", "print("])
        }
    }

    /// Whether each turn tries something else: the next of some candidates.
    private func takesAnother(_ body: CodeBlockSyntax, _ attempt: Syntax) -> Bool {
        // The arguments of the work change after a failure.
        if let clause = attempt.as(DoStmtSyntax.self)?.generalCatch {
            let changed = Set(
                Mutation.all(in: Syntax(clause.body), skip: isOwnTask).filter { $0.isAssignment }.map(\.root.name)
            )
            let arguments = attempt.all(FunctionCallExprSyntax.self, skip: { $0.is(CatchClauseSyntax.self) }).flatMap {
                $0.arguments.map(\.expression)
            }
            if arguments.contains(where: { argument in changed.contains { mentions($0, in: Syntax(argument)) } }) {
                return true
            }
        }
        // The results of several tasks are taken in turn.
        let works = attempt.all(FunctionCallExprSyntax.self, skip: { $0.is(CatchClauseSyntax.self) })
        if works.contains(where: { $0.calledName == "next" && $0.arguments.isEmpty }) { return true }
        return body.statements.contains { item in
            guard let choice = item.item.as(GuardStmtSyntax.self), choice.body.leavesLoop,
                choice.position < attempt.position
            else { return false }
            return choice.conditions.contains { condition in
                guard let value = condition.condition.as(OptionalBindingConditionSyntax.self)?.initializer?.value else {
                    return false
                }
                return value.unwrapped.is(FunctionCallExprSyntax.self)
            }
        }
    }

    /// Whether a `try` is of the work, and not of the delay before it.
    private func isWork(_ attempt: TryExprSyntax) -> Bool {
        guard !attempt.awaits().isEmpty else { return false }
        return !attempt.hasNode { $0.as(FunctionCallExprSyntax.self)?.isSleep ?? false }
    }

    private func isAttempts(_ loop: ForStmtSyntax) -> Bool {
        let sequence = loop.sequence.text
        if sequence.contains("..<") || sequence.contains("...") || sequence.hasPrefix("stride(") {
            // `for page in 1...3 { try await load(page) }` is no retry.
            return loop.pattern.is(WildcardPatternSyntax.self)
                || loop.pattern.text.containsAny(["attempt", "retr", "try", "tries", "_"])
                || !mentionsInWork(loop.pattern.text, loop.body)
        }
        return sequence.containsAny(["attempt", "retr", "delays", "backoff"])
    }

    private func mentionsInWork(_ name: String, _ body: CodeBlockSyntax) -> Bool {
        body.all(TryExprSyntax.self, skip: isOwnTask).contains { isWork($0) && mentions(name, in: Syntax($0)) }
    }

    private func isFollowedByExit(_ node: Syntax, in body: CodeBlockSyntax) -> Bool {
        // do { result = try await load(); isDone = true } catch { … }; if isDone { break }
        body.hasNode(skip: isOwnTask) { other in
            other.position >= node.endPosition && (other.is(ReturnStmtSyntax.self) || other.is(BreakStmtSyntax.self))
        }
    }

    private func isExit(_ name: String, in body: CodeBlockSyntax) -> Bool {
        body.hasNode(skip: isOwnTask) { node in
            guard let condition = node.as(IfExprSyntax.self), condition.conditions.text.contains(name) else {
                return false
            }
            return condition.body.exitsLoop
        }
    }

    /// `try? await Task.sleep` in a loop that only its own code ends: after a cancellation it does not sleep any more, and does not end.
    private mutating func checkSleep(in loop: Syntax) {
        if let loop = loop.as(ForStmtSyntax.self), !isAttempts(loop) || !loop.body.exitsLoop { return }
        guard let body = body(of: loop) else { return }
        if file.isTest, !isUnbounded(loop) { return }
        let sleeps = body.all(FunctionCallExprSyntax.self, skip: isInner).filter(\.isSleep)
        let swallowed = sleeps.first { call in
            guard !leavesAfterwards(Syntax(call), loop) else { return false }
            guard
                let attempt = call.ancestors.first(where: {
                    $0.is(TryExprSyntax.self) || $0.is(CodeBlockItemSyntax.self)
                })?.as(TryExprSyntax.self)
            else { return false }
            if attempt.questionOrExclamationMark?.text == "?" { return !isChecked(attempt) }
            return attempt.questionOrExclamationMark == nil && !leavesLoop(attempt, loop: loop)
        }
        guard let swallowed, !letsCancellationOut(loop, body) else { return }
        if loop.is(ForStmtSyntax.self) || isLimited(loop) {
            report(
                .retryLoop,
                .warning,
                at: swallowed,
                "after a cancellation this `sleep` returns at once: the loop goes on without a pause"
            )
            return
        }
        report(
            .retryLoop,
            .error,
            at: swallowed,
            "the loop does not end when its task is cancelled: from then on `sleep` returns at once, and the loop spins",
            fix: conditionEdit(loop)
        )
    }

    /// Whether the code behind a call leaves the loop.
    private func leavesAfterwards(_ node: Syntax, _ loop: Syntax) -> Bool {
        for ancestor in node.ancestors {
            if ancestor.id == loop.id { return false }
            guard let list = ancestor.as(CodeBlockItemListSyntax.self), let last = list.last,
                last.position > node.position
            else { continue }
            if last.item.leavesBlock, !last.item.is(ContinueStmtSyntax.self) { return true }
        }
        return false
    }

    /// Whether the value of `try? await Task.sleep` is looked at, as in `guard (try? await …) != nil else { return }`.
    private func isChecked(_ attempt: TryExprSyntax) -> Bool {
        var node = Syntax(attempt)
        while let parent = node.parent {
            if parent.is(CodeBlockItemSyntax.self) { return false }
            if parent.is(ConditionElementSyntax.self) || parent.is(OptionalBindingConditionSyntax.self) { return true }
            if let list = parent.as(ExprListSyntax.self) {
                return list.first?.is(DiscardAssignmentExprSyntax.self) != true
            }
            node = parent
        }
        return false
    }

    /// Whether a clock or a number ends the loop.
    private func isLimited(_ loop: Syntax) -> Bool {
        let conditions =
            loop.as(WhileStmtSyntax.self).map { Syntax($0.conditions) }
            ?? loop.as(RepeatStmtSyntax.self).map { Syntax($0.condition) }
        guard let conditions else { return false }
        if conditions.hasNode(where: {
            ["<", ">", "<=", ">="].contains($0.as(BinaryOperatorExprSyntax.self)?.operator.text ?? "")
        }) {
            return true
        }
        guard let body = body(of: loop) else { return false }
        return isUnbounded(loop) && capInBody(body)
    }

    private func capInBody(_ body: CodeBlockSyntax) -> Bool {
        body.hasNode(skip: isOwnTask) { node in
            guard let condition = node.as(IfExprSyntax.self), condition.body.leavesLoop else { return false }
            return condition.conditions.hasNode {
                ["<", ">", "<=", ">="].contains($0.as(BinaryOperatorExprSyntax.self)?.operator.text ?? "")
            }
        }
    }

    // MARK: Edits

    private func conditionEdit(_ loop: Syntax) -> [Edit] {
        guard let loop = loop.as(WhileStmtSyntax.self) else { return [] }
        if loop.conditions.text == "true" {
            // After `while true`, nothing is reached: a function that returns a value has no `return` behind it.
            guard isInVoid(Syntax(loop)), isLastStatement(Syntax(loop)) else { return [] }
            return [Edit(replace: loop.conditions, with: "!Task.isCancelled")]
        }
        return [Edit(insert: "!Task.isCancelled, ", at: loop.conditions.start.utf8Offset)]
    }

    private func isLastStatement(_ node: Syntax) -> Bool {
        var node = node
        while let parent = node.parent, !parent.is(CodeBlockItemSyntax.self) { node = parent }
        guard let item = node.parent?.as(CodeBlockItemSyntax.self),
            let list = item.parent?.as(CodeBlockItemListSyntax.self)
        else { return false }
        return list.last?.id == item.id
    }

    private func isInVoid(_ node: Syntax) -> Bool {
        switch Scope(of: node) {
        case .function(let function): return function.returnsVoid
        case .initializer: return true
        case .closure(let closure):
            guard closure.call?.isTaskCreation == true else { return false }
            return !closure.statements.hasNode(skip: { $0.id != closure.id && isOwnTask($0) }) {
                $0.as(ReturnStmtSyntax.self)?.expression != nil
            }
        default: return false
        }
    }

    /// Lets a cancellation out of the function that retries.
    private func cancellationEdit(_ attempt: Syntax, _ loop: Syntax) -> [Edit] {
        guard let attempt = attempt.as(DoStmtSyntax.self), let general = attempt.generalCatch else { return [] }
        guard case .function(let function) = Scope(of: loop), function.throwsErrors,
            function.signature.effectSpecifiers?.throwsClause?.type == nil
        else { return [] }
        // Inside another `do`, the error would be caught again.
        guard !loop.ancestors.contains(where: { $0.is(DoStmtSyntax.self) }), let first = general.body.statements.first
        else { return [] }
        return [Edit(insert: "try Task.checkCancellation()\n\(indentation(of: first))", at: first.start.utf8Offset)]
    }
}

extension Edit {
    init(replace node: some SyntaxProtocol, with text: String) {
        self.init(offset: node.start.utf8Offset, length: node.end.utf8Offset - node.start.utf8Offset, text: text)
    }

    init(offset: Int, length: Int, text: String) {
        self.offset = offset
        self.length = length
        self.text = text
    }
}

extension DoStmtSyntax {
    /// The `catch` that catches every error.
    var generalCatch: CatchClauseSyntax? {
        catchClauses.last { clause in
            clause.catchItems.isEmpty
                || clause.catchItems.allSatisfy { item in
                    guard item.whereClause == nil, let pattern = item.pattern else { return false }
                    return pattern.is(ValueBindingPatternSyntax.self) && !pattern.text.contains(" as ")
                }
        }
    }
}

extension CodeBlockSyntax {
    /// Whether the end of the block leaves a loop around it.
    var leavesLoop: Bool {
        guard let last = statements.last else { return false }
        if last.item.is(ContinueStmtSyntax.self) { return false }
        return last.item.leavesBlock
    }

    /// Whether some path through the block leaves a loop around it.
    var exitsLoop: Bool {
        statements.hasNode(skip: isDeferredCode) { $0.is(ReturnStmtSyntax.self) || $0.is(BreakStmtSyntax.self) }
    }
}
