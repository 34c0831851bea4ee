import SwiftSyntax

extension Context {
    private static let continuationFunctions: Set<String> = [
        "withCheckedContinuation", "withCheckedThrowingContinuation", "withUnsafeContinuation",
        "withUnsafeThrowingContinuation",
    ]

    /// Rule 4: a continuation around an API whose handle is not cancelled, or that some path does not resume, or resumes twice.
    mutating func checkContinuations() {
        for call in calls {
            guard let name = call.calledName, Self.continuationFunctions.contains(name),
                let closure = call.closures.last
            else { continue }
            let continuation = closure.parameterNames.first ?? "$0"
            // A wait without an end, in writing.
            if continuation == "_" { continue }
            checkHandle(call, closure, continuation)
            if checkThrowingTask(call, closure, continuation) { continue }
            checkPaths(call, closure, continuation)
            checkEarlyCancellation(call, closure, continuation)
        }
    }

    // MARK: Handles

    private static let handleCalls: Set<String> = [
        "dataTask", "downloadTask", "uploadTask", "scheduledTimer", "dataTaskPublisher", "requestImage",
        "requestImageData", "scheduleTask", "requestData",
        "requestAVAsset", "observe", "addPeriodicTimeObserver", "sink",
    ]
    private static let handleWords = [
        "task", "request", "operation", "timer", "handle", "token", "cancellable", "subscription", "job", "search",
        "download", "upload", "workitem",
        "call", "observer", "observation", "query", "fetch", "load",
    ]
    private static let namesThatRunAtOnce: Set<String> = [
        "withLock", "withLockedValue", "sync", "map", "perform", "flatMap", "withUnsafeContinuation", "compactMap",
        "first", "contains", "assumeIsolated",
        "whenComplete", "whenSuccess", "whenFailure", "withCriticalRegion", "reduce", "performAndWait", "run",
    ]

    private mutating func checkHandle(
        _ call: FunctionCallExprSyntax,
        _ closure: ClosureExprSyntax,
        _ continuation: String
    ) {
        let isHandled = call.ancestors.contains { ancestor in
            ancestor.as(FunctionCallExprSyntax.self).map { ($0.calledName ?? "").lowercased().contains("cancel") }
                ?? false
        }
        guard !isHandled, !file.isTest else { return }
        // The handle is cancelled by someone: it is kept outside the closure.
        guard let handle = handle(in: closure, continuation) ?? connection(in: closure, continuation) else { return }
        if let function = Scope(of: call, skippingClosures: true).node,
            function.text.contains("withTaskCancellationHandler")
        {
            return
        }
        report(
            .continuation,
            .warning,
            at: call,
            "nothing cancels `\(handle)` when the caller is cancelled: the caller waits until the callback comes"
        )
    }

    private func handle(in closure: ClosureExprSyntax, _ continuation: String) -> String? {
        for item in closure.statements {
            for call in item.all(FunctionCallExprSyntax.self, skip: { $0.is(ClosureExprSyntax.self) })
                + [item.item.as(ExprSyntax.self)?.as(FunctionCallExprSyntax.self)].compactMap({ $0 })
            {
                // `.changeSetting(change) { … }` makes a value.
                if let member = call.calledExpression.as(MemberAccessExprSyntax.self), member.base == nil { continue }
                guard let name = call.calledName, !Self.namesThatRunAtOnce.contains(name), !call.isTaskCreation else {
                    continue
                }
                let isCallback = call.closures.contains { mentionsName(continuation, in: Syntax($0)) }
                guard isCallback, !isCancelled(call, in: closure) else { continue }
                if Self.handleCalls.contains(name) {
                    if name == "sink", call.text.contains(".timeout(") { continue }
                    return name
                }
                if name == "DispatchWorkItem" || name == "BlockOperation" { return name }
                if isHandle(of: call) { return name }
            }
        }
        return nil
    }

    /// Whether the closure itself cancels what a call returns, such as a timer beside the request.
    private func isCancelled(_ call: FunctionCallExprSyntax, in closure: ClosureExprSyntax) -> Bool {
        guard
            let binding = call.ancestors.first(where: {
                $0.is(PatternBindingSyntax.self) || $0.is(CodeBlockItemSyntax.self)
            })?
            .as(PatternBindingSyntax.self)
        else { return false }
        let name = binding.pattern.text
        return closure.hasNode { node in
            guard let call = node.as(FunctionCallExprSyntax.self) else { return false }
            return ["cancel", "invalidate"].contains(call.calledName ?? "") && call.base?.root?.name == name
        }
    }

    /// A connection whose callback resumes the continuation, and that nothing cancels.
    private func connection(in closure: ClosureExprSyntax, _ continuation: String) -> String? {
        for binding in closure.statements.all(PatternBindingSyntax.self, skip: { $0.is(ClosureExprSyntax.self) }) {
            guard let made = binding.initializer?.value.unwrapped.as(FunctionCallExprSyntax.self),
                let type = made.calledName,
                type.hasSuffix("Connection") || type.hasSuffix("Listener") || type.hasSuffix("Session"),
                type.first?.isUppercase == true
            else { continue }
            let name = binding.pattern.text
            let isStarted = closure.statements.hasNode { node in
                guard let call = node.as(FunctionCallExprSyntax.self) else { return false }
                return ["start", "resume", "connect", "open"].contains(call.calledName ?? "")
                    && call.base?.root?.name == name
            }
            let isStopped = closure.statements.hasNode { node in
                guard let call = node.as(FunctionCallExprSyntax.self) else { return false }
                return [
                    "cancel", "stop", "close", "forceCancel", "invalidate", "invalidateAndCancel",
                    "finishTasksAndInvalidate",
                ]
                .contains(call.calledName ?? "") && call.base?.root?.name == name
            }
            let calls = closure.statements.all(SequenceExprSyntax.self).contains { sequence in
                let elements = Array(sequence.elements)
                return elements.count == 3 && elements[0].root?.name == name && elements[0].lastName != name
                    && mentionsName(continuation, in: Syntax(elements[2]))
            }
            if isStarted, calls { return isStopped ? name : type }
        }
        return nil
    }

    /// A task inside a continuation that leaves by throwing, and then resumes nothing.
    private mutating func checkThrowingTask(
        _ call: FunctionCallExprSyntax,
        _ closure: ClosureExprSyntax,
        _ continuation: String
    ) -> Bool {
        for inner in closure.all(FunctionCallExprSyntax.self) where inner.isTaskCreation {
            guard let body = inner.taskClosure, mentionsName(continuation, in: Syntax(body.statements)) else {
                continue
            }
            let resumes = body.statements.all(FunctionCallExprSyntax.self).filter {
                $0.calledName == "resume" && $0.base?.text == continuation
            }
            guard let last = resumes.last,
                !body.statements.hasNode(where: { $0.is(DeferStmtSyntax.self) && mentionsName(continuation, in: $0) })
            else { continue }
            let throwing = body.statements.all(TryExprSyntax.self, skip: isOwnTask).first { attempt in
                attempt.questionOrExclamationMark == nil && attempt.position < last.end
                    && !isCaught(Syntax(attempt), in: body)
            }
            guard let throwing else { continue }
            let line = file.location(throwing.start).line
            report(
                .continuation,
                .error,
                at: call,
                "the task inside leaves by the `try` in line \(line) without resuming `\(continuation)`: its caller waits without end"
            )
            return true
        }
        return false
    }

    /// A continuation that the cancellation handler looks for, though it can run before the continuation is stored.
    private mutating func checkEarlyCancellation(
        _ call: FunctionCallExprSyntax,
        _ closure: ClosureExprSyntax,
        _ continuation: String
    ) {
        guard
            let handler = call.ancestors.lazy.compactMap({ $0.as(FunctionCallExprSyntax.self) })
                .first(where: { $0.calledName == "withTaskCancellationHandler" }),
            let onCancel = handler.closure(labeled: "onCancel"), !onCancel.encloses(call), !file.isTest,
            let operation = handler.closures.first(where: { $0.encloses(call) }), operation.id != onCancel.id
        else { return }
        // Any look at the cancellation, in the operation or in a function that it calls, remembers it.
        func knows(_ node: Syntax) -> Bool {
            node.hasNode { $0.as(DeclReferenceExprSyntax.self)?.baseName.text.lowercased().contains("cancel") ?? false }
        }
        guard !knows(Syntax(operation.statements)) else { return }
        // An actor stores the continuation before the task of the handler can run.
        guard !onCancel.hasNode(where: { $0.as(FunctionCallExprSyntax.self)?.isTaskCreation ?? false }) else { return }
        let stores = Mutation.all(in: Syntax(closure), skip: { _ in false }).filter { mutation in
            mutation.isAssignment
                && mutation.values.contains { value in
                    value.as(DeclReferenceExprSyntax.self)?.baseName.text == continuation
                        || value.hasNode(skip: { $0.is(ClosureExprSyntax.self) }) {
                            $0.as(DeclReferenceExprSyntax.self)?.baseName.text == continuation
                        }
                }
        }
        guard let store = stores.first else { return }
        // `lock.withLock { $0 = continuation }` of a property: the property is what the lock guards.
        func place(_ node: Syntax, _ root: String) -> String {
            guard root.hasPrefix("$") else { return root }
            for ancestor in node.ancestors {
                if let call = ancestor.as(FunctionCallExprSyntax.self), let base = call.base?.root,
                    call.calledName?.hasPrefix("with") == true
                {
                    return base.name
                }
            }
            return root
        }
        let name = place(store.node, store.root.name)
        let owner = type(of: call)
        let isLookedFor =
            mentionsName(name, in: Syntax(onCancel))
            || onCancel.all(FunctionCallExprSyntax.self).contains { inner in
                guard let called = inner.calledName, let owner,
                    inner.base == nil || inner.base?.unwrapped.isSelf == true
                else { return false }
                return methods(called, of: owner).contains {
                    $0.body.map { mentionsName(name, in: Syntax($0)) && !knows(Syntax($0)) } ?? false
                }
            }
        guard isLookedFor, !onCancel.text.contains("= true"),
            !onCancel.text.lowercased().contains("iscancelled"), !onCancel.text.contains(".cancelled")
        else { return }
        report(
            .continuation,
            .warning,
            at: call,
            "a cancellation that comes before `\(continuation)` is stored in `\(name)` finds nothing there, and is not remembered: the cancelled caller waits"
        )
    }

    /// Whether the value of a call is kept, or dropped in writing, as a handle is.
    private func isHandle(of call: FunctionCallExprSyntax) -> Bool {
        var node = Syntax(call)
        while let parent = node.parent, parent.is(TryExprSyntax.self) || parent.is(AwaitExprSyntax.self) {
            node = parent
        }
        if let binding = node.parent?.parent?.as(PatternBindingSyntax.self),
            node.parent?.is(InitializerClauseSyntax.self) == true
        {
            guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else { return true }
            return name.containsAny(Self.handleWords) || isStarted(name, after: Syntax(binding))
        }
        if let list = node.parent?.as(ExprListSyntax.self), list.count == 3 {
            let elements = Array(list)
            guard elements[1].is(AssignmentExprSyntax.self) else { return false }
            return elements[0].is(DiscardAssignmentExprSyntax.self) || elements[0].text.containsAny(Self.handleWords)
        }
        // `api.load { … }.resume()`
        if let member = node.parent?.as(MemberAccessExprSyntax.self),
            ["resume", "start", "store"].contains(member.declName.baseName.text)
        {
            return true
        }
        return false
    }

    private func isStarted(_ name: String, after node: Syntax) -> Bool {
        guard let list = node.ancestors.first(where: { $0.is(CodeBlockItemListSyntax.self) }) else { return false }
        return list.hasNode { child in
            guard let call = child.as(FunctionCallExprSyntax.self) else { return false }
            return ["resume", "start", "cancel"].contains(call.calledName ?? "") && call.base?.text == name
        }
    }

    private func mentionsName(_ name: String, in node: Syntax) -> Bool {
        node.hasNode { $0.as(DeclReferenceExprSyntax.self)?.baseName.text == name }
    }

    // MARK: Paths

    private mutating func checkPaths(
        _ call: FunctionCallExprSyntax,
        _ closure: ClosureExprSyntax,
        _ continuation: String
    ) {
        guard !escapes(continuation, in: closure) else { return }
        var paths = ResumePaths(continuation: continuation)
        let ends = paths.ends(of: closure.statements, from: [0])
        guard !paths.isUnknown else { return }
        let all = ends.union(paths.returned)
        if paths.isTwice || all.contains(2) {
            guard paths.isTwice || !resumesInCallbacks(closure, continuation) || hasTimeLimit(closure, continuation)
            else { return }
            report(
                .continuation,
                paths.isTwice ? .error : .warning,
                at: call,
                "a path resumes the continuation `\(continuation)` twice: the second time traps"
            )
        } else if paths.isMissing || all.contains(0) {
            guard all.contains(0) || !isCalledOften(closure, continuation) else { return }
            report(
                .continuation,
                all.contains(0) ? .error : .warning,
                at: call,
                "a path does not resume the continuation `\(continuation)`: its caller waits without end"
            )
        }
    }

    /// Whether more than one closure resumes: which of them run is not in the syntax.
    private func resumesInCallbacks(_ closure: ClosureExprSyntax, _ continuation: String) -> Bool {
        closure.statements.hasNode { node in
            node.as(ClosureExprSyntax.self).map { mentionsName(continuation, in: Syntax($0.statements)) } ?? false
        }
    }

    /// Whether a time limit beside a callback resumes too, and nothing says which of them is first.
    private func hasTimeLimit(_ closure: ClosureExprSyntax, _ continuation: String) -> Bool {
        closure.statements.all(FunctionCallExprSyntax.self).contains { call in
            guard let name = call.calledName,
                call.closures.contains(where: { mentionsName(continuation, in: Syntax($0)) })
            else { return false }
            return name == "asyncAfter" || name == "scheduledTimer"
                || (call.isTaskCreation && call.hasNode { $0.as(FunctionCallExprSyntax.self)?.isSleep ?? false })
        }
    }

    private static let namesOfRepeatedCalls = [
        "handler", "observe", "sink", "receive", "read", "on", "progress", "subscribe", "listen", "register", "monitor",
        "addlistener", "watch", "didchange", "repeat", "timer", "enumerate", "scheduled", "updates", "block", "event",
        "requestmediadata", "sample", "poll",
    ]

    /// Whether a callback can be called several times, so that a call without an answer is none that is missing.
    private func isCalledOften(_ closure: ClosureExprSyntax, _ continuation: String) -> Bool {
        closure.statements.all(ClosureExprSyntax.self).contains { inner in
            guard mentionsName(continuation, in: Syntax(inner.statements)) else { return false }
            if inner.parent?.is(ExprListSyntax.self) == true { return true }
            let name = (inner.call?.calledName ?? "").lowercased()
            let label = inner.label.lowercased()
            let isListener = inner.ancestors.prefix { $0.id != closure.id }.contains { ancestor in
                guard let call = ancestor.as(FunctionCallExprSyntax.self) else { return false }
                return (call.calledName ?? "").containsAny(["listener", "subscribe", "observe", "publisher", "sink"])
            }
            return isListener
                || Self.namesOfRepeatedCalls.contains {
                    name.hasPrefix($0) || label.hasPrefix($0) || name.hasSuffix($0) && $0.count > 2
                }
        }
    }

    /// Whether a continuation is stored or passed on: then others resume it.
    private func escapes(_ continuation: String, in closure: ClosureExprSyntax) -> Bool {
        closure.statements.hasNode { node in
            guard let reference = node.as(DeclReferenceExprSyntax.self), reference.baseName.text == continuation,
                reference.isFirst
            else {
                if let capture = node.as(ClosureCaptureSyntax.self) {
                    return capture.initializer != nil && capture.text.contains(continuation)
                }
                return false
            }
            guard let member = reference.parent?.as(MemberAccessExprSyntax.self),
                member.declName.baseName.text == "resume",
                member.parent?.is(FunctionCallExprSyntax.self) == true
            else { return true }
            return false
        }
    }
}

/// Counts the resumptions on each path through code.
struct ResumePaths {
    let continuation: String
    /// How many resumptions the paths have that leave the closure early.
    var returned: Set<Int> = []
    var isTwice = false
    var isMissing = false
    /// Whether the code has something that this cannot count.
    var isUnknown = false
    private var thrown: [Set<Int>] = []
    private var broken: [Set<Int>] = []

    init(continuation: String) { self.continuation = continuation }

    /// The numbers of resumptions at the end of statements.
    ///
    /// - Returns: An empty set if the end cannot be reached.
    mutating func ends(of statements: CodeBlockItemListSyntax, from start: Set<Int>) -> Set<Int> {
        var counts = start
        var deferred = 0
        for item in statements {
            guard !counts.isEmpty, !isUnknown else { break }
            if !thrown.isEmpty,
                item.hasNode(
                    skip: isDeferredCode,
                    where: { $0.as(TryExprSyntax.self).map { $0.questionOrExclamationMark == nil } ?? false }
                )
            {
                thrown[thrown.count - 1].formUnion(counts)
            }
            if let later = item.item.as(DeferStmtSyntax.self) {
                deferred += number(Syntax(later.body))
            } else if let statement = item.item.as(StmtSyntax.self) {
                counts = ends(of: statement, from: counts)
            } else if let expression = item.item.as(ExprSyntax.self) {
                counts = ends(of: expression, from: counts)
            } else {
                counts = add(direct: Syntax(item.item), to: counts)
            }
        }
        if deferred > 0 {
            counts = plus(counts, deferred)
            returned = plus(returned, deferred)
        }
        return counts
    }

    private func plus(_ counts: Set<Int>, _ number: Int) -> Set<Int> { Set(counts.map { min(2, $0 + number) }) }

    private func mentions(_ node: Syntax) -> Bool {
        node.as(DeclReferenceExprSyntax.self)?.baseName.text == continuation
            || node.hasNode { $0.as(DeclReferenceExprSyntax.self)?.baseName.text == continuation }
    }

    /// The resumptions in code without branches, outside its closures.
    private func number(_ node: Syntax) -> Int {
        let resumes =
            node.all(FunctionCallExprSyntax.self, skip: isDeferredCode)
            + [node.as(FunctionCallExprSyntax.self)].compactMap { $0 }
        return resumes.filter { $0.calledName == "resume" && $0.base?.text == continuation }.count
    }

    /// Adds the resumptions of an expression or a declaration: those in it, and those of a callback in it.
    private mutating func add(direct node: Syntax, to counts: Set<Int>) -> Set<Int> {
        guard mentions(node) else { return counts }
        let direct = number(node)
        var closures = node.all(
            ClosureExprSyntax.self,
            skip: { $0.parent.map { $0.is(ClosureExprSyntax.self) } ?? false }
        )
        closures = closures.filter { closure in
            mentions(Syntax(closure.statements)) && !closures.contains { $0.id != closure.id && $0.encloses(closure) }
        }
        if closures.isEmpty { return plus(counts, direct) }
        // Success in one closure and failure in another: exactly one of them is called.
        var total = Set<Int>()
        for closure in closures {
            if let name = closure.call?.calledName,
                ["forEach", "map", "compactMap", "first", "contains", "filter", "flatMap"].contains(name)
            {
                isUnknown = true
                return counts
            }
            var inner = ResumePaths(continuation: continuation)
            let ends = inner.ends(of: closure.statements, from: [0])
            if inner.isUnknown { isUnknown = true }
            if inner.isTwice { isTwice = true }
            if inner.isMissing { isMissing = true }
            total.formUnion(ends.union(inner.returned))
        }
        // `settleOnce { continuation.resume() }`
        if let call = closures[0].call, closures.count == 1, let name = call.calledName?.lowercased(),
            Self.onceWords.contains(where: { name.contains($0) && $0 != "final" && $0 != "withlock" })
        {
            isUnknown = true
            return counts
        }
        // A closure that takes part only sometimes, beside another: not to be counted.
        if direct > 0 {
            isUnknown = true
            return counts
        }
        if total.contains(2) { isTwice = true }
        if total.contains(0) {
            // Progress in one callback, the end in another.
            if closures.count > 1 { return plus(counts, 1) }
            isMissing = true
        }
        return plus(counts, 1)
    }

    private mutating func ends(of expression: ExprSyntax, from counts: Set<Int>) -> Set<Int> {
        if let condition = expression.as(IfExprSyntax.self) {
            if mentions(Syntax(condition.conditions)) { isUnknown = true }
            if letsInOnce(condition.conditions, from: Syntax(expression)) {
                // `if !didResume { didResume = true; continuation.resume() }`, or `if didResume { return }`.
                let before = returned
                let then = ends(of: condition.body.statements, from: counts)
                if condition.elseBody == nil {
                    returned = before
                    return then.isEmpty || then == counts ? counts : then
                }
                returned = before
            }
            let then = ends(of: condition.body.statements, from: counts)
            if let block = condition.elseBody?.as(CodeBlockSyntax.self) {
                return then.union(ends(of: block.statements, from: counts))
            }
            if let next = condition.elseBody?.as(IfExprSyntax.self) {
                return then.union(ends(of: ExprSyntax(next), from: counts))
            }
            return then.union(counts)
        }
        if let choice = expression.as(SwitchExprSyntax.self) {
            var result: Set<Int> = []
            broken.append([])
            for element in choice.cases {
                guard let element = element.as(SwitchCaseSyntax.self) else { isUnknown = true; return counts }
                result.formUnion(ends(of: element.statements, from: counts))
            }
            return result.union(broken.removeLast())
        }
        if let call = expression.as(FunctionCallExprSyntax.self), let name = call.calledName,
            ["fatalError", "preconditionFailure", "exit", "abort"].contains(name)
        {
            return []
        }
        // `a ? b : c`, and `try`.
        if expression.hasNode(
            skip: isDeferredCode,
            where: { $0.is(UnresolvedTernaryExprSyntax.self) || $0.is(TernaryExprSyntax.self) }
        ), mentions(Syntax(expression)), number(Syntax(expression)) > 1 {
            return plus(counts, 1)
        }
        return add(direct: Syntax(expression), to: counts)
    }

    private static let onceWords = [
        "done", "finish", "resumed", "didresume", "complete", "final", "once", "first", "claim", "settle", "called",
        "fired", "hasresumed", "isresumed", "exchange", "mark", "taken", "consumed", "responded", "replied", "returned",
        "alreadyresumed", "invoked", "islast", "isend", "eof", "sent", "withlock", "weak", "guard", "flag", "ended",
        "stopped",
    ]

    /// Whether a condition lets in one of several calls: it asks a flag that the code sets, or a function that says who is first.
    private func letsInOnce(_ conditions: ConditionElementListSyntax, from node: Syntax) -> Bool {
        let names =
            conditions.all(DeclReferenceExprSyntax.self).map(\.baseName.text)
            + conditions.all(OptionalBindingConditionSyntax.self).map(\.pattern.text)
        if names.contains(where: { name in
            Self.onceWords.contains { name.lowercased().contains($0) } && name != "finish"
        }) {
            return true
        }
        guard let scope = node.ancestors.first(where: { $0.is(ClosureExprSyntax.self) }) else { return false }
        let changed = Set(Mutation.all(in: scope, skip: { _ in false }).filter { $0.isAssignment }.map(\.root.name))
        return names.contains { changed.contains($0) }
    }

    private mutating func ends(of statement: StmtSyntax, from counts: Set<Int>) -> Set<Int> {
        if let expression = statement.as(ExpressionStmtSyntax.self) {
            return ends(of: expression.expression, from: counts)
        }
        if let condition = statement.as(GuardStmtSyntax.self) {
            if mentions(Syntax(condition.conditions)) { isUnknown = true }
            let before = returned
            let thrownBefore = thrown
            _ = ends(of: condition.body.statements, from: counts)
            // Only the first of several calls gets through, and the others have nothing to resume.
            if letsInOnce(condition.conditions, from: Syntax(statement)) {
                returned = before
                thrown = thrownBefore
            }
            return counts
        }
        if let end = statement.as(ReturnStmtSyntax.self) {
            let counts = end.expression.map { add(direct: Syntax($0), to: counts) } ?? counts
            returned.formUnion(counts)
            return []
        }
        if statement.is(ThrowStmtSyntax.self) {
            if thrown.isEmpty { isUnknown = true } else { thrown[thrown.count - 1].formUnion(counts) }
            return []
        }
        if let attempt = statement.as(DoStmtSyntax.self) {
            thrown.append([])
            var result = ends(of: attempt.body.statements, from: counts)
            let failed = thrown.removeLast()
            // The body may call what throws in a place that this does not see.
            for clause in attempt.catchClauses {
                result.formUnion(ends(of: clause.body.statements, from: failed.isEmpty ? counts : failed))
            }
            return result
        }
        if statement.is(BreakStmtSyntax.self) {
            if broken.isEmpty { isUnknown = true } else { broken[broken.count - 1].formUnion(counts) }
            return []
        }
        if statement.is(ForStmtSyntax.self) || statement.is(WhileStmtSyntax.self) || statement.is(RepeatStmtSyntax.self)
        {
            if mentions(Syntax(statement)) { isUnknown = true }
            return counts
        }
        if statement.is(ContinueStmtSyntax.self) || statement.is(FallThroughStmtSyntax.self)
            || statement.is(LabeledStmtSyntax.self)
        {
            isUnknown = true
            return counts
        }
        return add(direct: Syntax(statement), to: counts)
    }
}
