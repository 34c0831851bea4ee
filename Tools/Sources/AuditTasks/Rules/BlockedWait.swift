import SwiftSyntax

extension Context {
    /// Rule 8: a timeout that waits for its loser, a sleep in a test, and a wait that blocks a thread of the pool.
    mutating func checkBlockedWaits() {
        for call in calls {
            checkRace(call)
            checkSleepInTest(call)
            checkBlocking(call)
        }
    }

    // MARK: Races

    private mutating func checkRace(_ call: FunctionCallExprSyntax) {
        guard let name = call.calledName, ["withTaskGroup", "withThrowingTaskGroup"].contains(name),
            let closure = call.closures.last
        else { return }
        let group = closure.parameterNames.first ?? "$0"
        let children = closure.all(FunctionCallExprSyntax.self).filter {
            ["addTask", "addTaskUnlessCancelled"].contains($0.calledName ?? "") && $0.base?.text == group
        }
        guard children.count >= 2 else { return }
        let sleepers = children.filter { isTimeLimit($0) }
        guard sleepers.count == 1, let body = closure.statements.first.map({ _ in closure.statements }) else { return }
        let takesFirst = body.hasNode { node in
            if let call = node.as(FunctionCallExprSyntax.self) {
                return call.calledName == "next" && call.base?.text == group
            }
            guard let loop = node.as(ForStmtSyntax.self), loop.awaitKeyword != nil, loop.sequence.text == group else {
                return false
            }
            return loop.body.exitsLoop
        }
        guard takesFirst, isTimeout(sleepers[0], body, group) else { return }
        let others = children.filter { child in !sleepers.contains { $0.id == child.id } }
        let cancels = body.hasNode { node in
            node.as(FunctionCallExprSyntax.self).map { $0.calledName == "cancelAll" && $0.base?.text == group } ?? false
        }
        if !cancels {
            // A child that throws cancels the others; a child that returns does not.
            let fix = closure.signature == nil || body.count < 2 ? [] : [raceEdit(closure, group)]
            report(
                .blockedWait,
                .warning,
                at: call,
                "the group waits for the loser of this race: without `\(group).cancelAll()`, every call takes as long as the time limit",
                fix: fix
            )
            return
        }
        guard let stubborn = others.first(where: { child in child.closures.contains { ignoresCancellation($0) } })
        else { return }
        report(
            .blockedWait,
            .warning,
            at: call,
            "the group waits for the loser of this race, which ignores its cancellation: `\(summary(stubborn))`"
        )
    }

    /// Whether a child that sleeps then decides the race: it throws or returns a value, or nothing is left to do when it wins.
    private func isTimeout(_ child: FunctionCallExprSyntax, _ body: CodeBlockItemListSyntax, _ group: String) -> Bool {
        if let closure = child.closures.last, closure.statements.count > 1 { return true }
        guard let last = body.last else { return false }
        return last.hasNode { $0.as(FunctionCallExprSyntax.self)?.calledName == "next" }
            || last.item.is(ReturnStmtSyntax.self) || last.text.contains("cancelAll")
    }

    private func summary(_ call: FunctionCallExprSyntax) -> String {
        let text = call.closures.last?.statements.first?.text ?? call.text
        let line = text.split(separator: "\n").first.map(String.init) ?? ""
        return line.count > 60 ? String(line.prefix(60)) + "…" : line
    }

    private func raceEdit(_ closure: ClosureExprSyntax, _ group: String) -> Edit {
        let first = closure.statements.first!
        return Edit(insert: "defer { \(group).cancelAll() }\n\(indentation(of: first))", at: first.start.utf8Offset)
    }

    /// Whether a child only waits for a time.
    private func isTimeLimit(_ child: FunctionCallExprSyntax) -> Bool {
        guard let closure = child.closures.last else { return false }
        guard closure.statements.count <= 3, let first = closure.statements.first else { return false }
        let sleeps =
            first.all(FunctionCallExprSyntax.self)
            + [first.item.as(ExprSyntax.self)?.unwrapped.as(FunctionCallExprSyntax.self)].compactMap { $0 }
        guard sleeps.contains(where: \.isSleep) else { return false }
        let awaits = closure.statements.awaits()
        return awaits.count == 1
    }

    /// Whether code waits for something that a cancellation does not end.
    private func ignoresCancellation(_ closure: ClosureExprSyntax) -> Bool {
        ignoresCancellation(Syntax(closure.statements), at: closure, depth: 0)
    }

    private func ignoresCancellation(_ body: Syntax, at place: some SyntaxProtocol, depth: Int) -> Bool {
        if waitsStubbornly(body) { return true }
        guard depth < 2 else { return false }
        return body.all(AwaitExprSyntax.self, skip: isOwnTask).contains { awaiting in
            guard let call = awaiting.expression.unwrapped.as(FunctionCallExprSyntax.self), let name = call.calledName
            else { return false }
            guard call.base == nil || call.base?.text == "self" else { return false }
            let declarations = type(of: place).map { methods(name, of: $0) } ?? []
            let candidates =
                declarations.isEmpty && call.base == nil
                ? functions.filter { $0.name.text == name && typePath(of: $0) == nil } : declarations
            return candidates.contains {
                $0.body.map { ignoresCancellation(Syntax($0), at: $0, depth: depth + 1) } ?? false
            }
        }
    }

    private func waitsStubbornly(_ body: Syntax) -> Bool {
        func isHandled(_ node: Syntax) -> Bool {
            node.ancestors.contains {
                $0.as(FunctionCallExprSyntax.self).map { ($0.calledName ?? "").lowercased().contains("cancel") }
                    ?? false
            }
        }
        return body.hasNode(skip: isOwnTask) { node in
            if let call = node.as(FunctionCallExprSyntax.self), let name = call.calledName {
                if name.hasPrefix("with"), name.hasSuffix("Continuation") { return !isHandled(node) }
                if ["wait", "sync"].contains(name), call.base.map({ isBlockingBase($0, at: call) }) == true {
                    return true
                }
                if name == "sleep", call.base?.text == "Thread" { return true }
            }
            // A loop that only sleeps, and continues when the sleep is cancelled.
            if let loop = node.as(WhileStmtSyntax.self), loop.conditions.text == "true",
                loop.body.text.contains("try? await")
            {
                return !loop.checksCancellation()
                    && !loop.body.all(TryExprSyntax.self).contains { leavesLoopByThrowing($0, loop) }
            }
            // `await Task { … }.value`
            if let member = node.as(MemberAccessExprSyntax.self),
                ["value", "result"].contains(member.declName.baseName.text),
                member.base?.unwrapped.as(FunctionCallExprSyntax.self)?.isTaskCreation == true
            {
                return !isHandled(node)
            }
            return false
        }
    }

    private func leavesLoopByThrowing(_ attempt: TryExprSyntax, _ loop: WhileStmtSyntax) -> Bool {
        attempt.questionOrExclamationMark == nil
            && !attempt.ancestors.prefix { $0.id != loop.id }.contains { $0.is(DoStmtSyntax.self) }
    }

    // MARK: Tests

    private mutating func checkSleepInTest(_ call: FunctionCallExprSyntax) {
        guard file.isTest, call.isSleep, let base = call.base?.text else { return }
        guard base == "Task" || base.hasPrefix("Task<") || base == "ContinuousClock()" || base == "SuspendingClock()"
        else { return }
        guard let function = testFunction(around: call) else { return }
        // A loop that asks again until something holds depends on a condition, and not on the time.
        for ancestor in call.ancestors {
            if ancestor.id == function.id { break }
            if ancestor.is(WhileStmtSyntax.self) || ancestor.is(RepeatStmtSyntax.self) { return }
            if let loop = ancestor.as(ForStmtSyntax.self), loop.body.exitsLoop || loop.whereClause != nil { return }
        }
        // The assertions that follow are the reason for the sleep.
        guard let body = function.body,
            body.statements.hasNode(
                skip: { $0.endPosition <= call.endPosition },
                where: { isAssertion($0) && $0.position > call.position }
            )
        else { return }
        // The time itself is what is tested.
        if function.name.text.containsAny(["sleep", "elapsed", "duration"])
            || body.all(MacroExpansionExprSyntax.self).contains(where: { measuresTime(Syntax($0)) })
            || body.all(FunctionCallExprSyntax.self).contains(where: {
                isAssertion(Syntax($0)) && measuresTime(Syntax($0))
            })
        {
            return
        }
        report(
            .blockedWait,
            .note,
            at: call,
            "`\(function.name.text)` sleeps for a time and then expects: the time is too short on a slow machine, and wasted on a fast one"
        )
    }

    private func measuresTime(_ node: Syntax) -> Bool {
        node.text.lowercased().containsAny([
            "clock", "elapsed", "duration", "date()", "timeinterval", ".now", "starttime",
        ])
    }

    private func isAssertion(_ node: Syntax) -> Bool {
        if let macro = node.as(MacroExpansionExprSyntax.self) {
            return ["expect", "require"].contains(macro.macroName.text)
        }
        guard let call = node.as(FunctionCallExprSyntax.self), let name = call.calledName else { return false }
        return name.hasPrefix("XCTAssert") || name == "XCTUnwrap" || name == "XCTFail" || name == "expectNoDifference"
    }

    /// The test that a call is a direct part of: not of a task, or of a stub in it.
    private func testFunction(around call: FunctionCallExprSyntax) -> FunctionDeclSyntax? {
        for ancestor in call.ancestors {
            if let closure = ancestor.as(ClosureExprSyntax.self), !closure.runsInPlace { return nil }
            if let function = ancestor.as(FunctionDeclSyntax.self) {
                if function.attributeNames.contains("Test") { return function }
                guard function.name.text.hasPrefix("test"), function.parameterNames.isEmpty,
                    typePath(of: function) != nil
                else { return nil }
                return function
            }
            if isTypeDeclaration(ancestor) { return nil }
        }
        return nil
    }

    // MARK: Threads

    private mutating func checkBlocking(_ call: FunctionCallExprSyntax) {
        guard call.calledName == "wait", let base = call.base,
            !call.ancestors.prefix(3).contains(where: { $0.is(AwaitExprSyntax.self) })
        else { return }
        guard let kind = blockingKind(base, at: call) else { return }
        guard let place = asynchronousPlace(of: call) else {
            checkBridge(call, base, kind)
            return
        }
        report(
            .blockedWait,
            .error,
            at: call,
            "`\(base.text).wait()` blocks a thread of the pool in \(place): if all threads wait, nothing is left to signal the \(kind)"
        )
    }

    /// A synchronous function that waits for a task: on the main actor or the pool, that task may need this thread.
    private mutating func checkBridge(_ call: FunctionCallExprSyntax, _ base: ExprSyntax, _ kind: String) {
        guard !file.isTest, !file.isMain, call.arguments.isEmpty, let owner = type(of: call), let root = base.root
        else { return }
        let scope = Scope(of: call, skippingClosures: true)
        guard let body = scope.node else { return }
        let isSignalled = tasks.contains { task in
            guard body.encloses(task.call), task.call.position < call.position else { return false }
            return task.closure.hasNode { node in
                guard let call = node.as(FunctionCallExprSyntax.self) else { return false }
                return ["signal", "leave"].contains(call.calledName ?? "") && call.base?.root?.name == root.name
            }
        }
        guard isSignalled, !owner.isProcessWide else { return }
        report(
            .blockedWait,
            .warning,
            at: call,
            "`\(base.text).wait()` blocks the caller until a task has signalled: on the main actor, or on a thread of the pool, that task may never run"
        )
    }

    private func isBlockingBase(_ base: ExprSyntax, at place: some SyntaxProtocol) -> Bool {
        blockingKind(base, at: place) != nil
    }

    /// The kind of object that a call of `wait` waits for, if the call blocks the thread.
    private func blockingKind(_ base: ExprSyntax, at place: some SyntaxProtocol) -> String? {
        if base.text.hasPrefix("DispatchSemaphore(") { return "semaphore" }
        guard let root = base.root else { return nil }
        var declared: String?
        for ancestor in place.ancestors {
            guard declared == nil else { break }
            guard
                ancestor.is(FunctionDeclSyntax.self) || ancestor.is(ClosureExprSyntax.self)
                    || ancestor.is(AccessorBlockSyntax.self)
                    || ancestor.is(InitializerDeclSyntax.self) || ancestor.is(SourceFileSyntax.self)
            else { continue }
            let isFile = ancestor.is(SourceFileSyntax.self)
            ancestor.walk { node in
                if isTypeDeclaration(node) || (isFile && node.is(FunctionDeclSyntax.self)) { return false }
                if let binding = node.as(PatternBindingSyntax.self), binding.pattern.text == root.name {
                    declared = binding.typeAnnotation?.type.text ?? binding.initializer?.value.text
                }
                if let parameter = node.as(FunctionParameterSyntax.self),
                    (parameter.secondName ?? parameter.firstName).text == root.name
                {
                    declared = parameter.type.text
                }
                return declared == nil
            }
        }
        if declared == nil, let owner = type(of: place),
            let property = index.property(root.name, of: owner, module: file.module)
        {
            declared = property.type ?? property.initial
        }
        guard let declared else { return nil }
        if declared.hasPrefix("DispatchSemaphore") || declared.hasPrefix("Dispatch.DispatchSemaphore") {
            return "semaphore"
        }
        if declared.hasPrefix("DispatchGroup") { return "group" }
        if declared.hasPrefix("NSCondition") { return "condition" }
        return nil
    }

    /// The asynchronous code that a node is in, as part of a sentence.
    private func asynchronousPlace(of node: some SyntaxProtocol) -> String? {
        for ancestor in node.ancestors {
            if let closure = ancestor.as(ClosureExprSyntax.self) {
                guard let call = closure.call, let name = call.calledName else { return nil }
                if call.isTaskCreation { return "a task" }
                if name.hasPrefix("addTask") { return "a child task" }
                if closure.signature?.effectSpecifiers?.asyncSpecifier != nil { return "an asynchronous closure" }
                if closure.runsInPlace || name == "defer" || (name.hasPrefix("with") && name.hasSuffix("Continuation"))
                {
                    continue
                }
                if !closure.statements.awaits(skip: isDeferredCode).isEmpty { return "an asynchronous closure" }
                return nil
            }
            if let function = ancestor.as(FunctionDeclSyntax.self) {
                return function.isAsync ? "the asynchronous `\(function.name.text)`" : nil
            }
            if let initializer = ancestor.as(InitializerDeclSyntax.self) {
                return initializer.signature.effectSpecifiers?.asyncSpecifier != nil
                    ? "an asynchronous initializer" : nil
            }
            if let accessor = ancestor.as(AccessorDeclSyntax.self) {
                return accessor.effectSpecifiers?.asyncSpecifier != nil ? "an asynchronous property" : nil
            }
            if isTypeDeclaration(ancestor) { return nil }
        }
        return nil
    }
}
