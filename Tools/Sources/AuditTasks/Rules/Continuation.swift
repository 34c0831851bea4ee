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
            checkHandle(call, closure, continuation)
            checkPaths(call, closure, continuation)
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
        guard let handle = handle(in: closure, continuation) else { return }
        if let function = Scope(of: call, skippingClosures: true).node,
            function.text.contains("withTaskCancellationHandler")
        {
            return
        }
        report(
            .continuation,
            .warning,
            at: call,
            "`\(handle)` returns a handle that nothing cancels: a cancelled caller waits until the callback comes"
        )
    }

    private func handle(in closure: ClosureExprSyntax, _ continuation: String) -> String? {
        for item in closure.statements {
            for call in item.all(FunctionCallExprSyntax.self, skip: { $0.is(ClosureExprSyntax.self) })
                + [item.item.as(ExprSyntax.self)?.as(FunctionCallExprSyntax.self)].compactMap({ $0 })
            {
                guard let name = call.calledName, !Self.namesThatRunAtOnce.contains(name), !call.isTaskCreation else {
                    continue
                }
                let isCallback = call.closures.contains { mentionsName(continuation, in: Syntax($0)) }
                guard isCallback else { continue }
                if Self.handleCalls.contains(name) { return name }
                if name == "DispatchWorkItem" || name == "BlockOperation" { return name }
                if isHandle(of: call) { return name }
            }
        }
        return nil
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
            report(
                .continuation,
                .error,
                at: call,
                "a path resumes the continuation `\(continuation)` twice: the second time traps"
            )
        } else if paths.isMissing || all.contains(0) {
            report(
                .continuation,
                .error,
                at: call,
                "a path does not resume the continuation `\(continuation)`: its caller waits without end"
            )
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

    private mutating func ends(of statement: StmtSyntax, from counts: Set<Int>) -> Set<Int> {
        if let expression = statement.as(ExpressionStmtSyntax.self) {
            return ends(of: expression.expression, from: counts)
        }
        if let condition = statement.as(GuardStmtSyntax.self) {
            if mentions(Syntax(condition.conditions)) { isUnknown = true }
            _ = ends(of: condition.body.statements, from: counts)
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
