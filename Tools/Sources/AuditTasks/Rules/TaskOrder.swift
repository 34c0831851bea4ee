import SwiftSyntax

extension Context {
    /// Rule 9: tasks that are created in an order, and run in any.
    mutating func checkTaskOrder() {
        guard !file.isTest else { return }
        var reported: Set<SyntaxIdentifier> = []
        checkPairs(&reported)
        for task in tasks where !reported.contains(task.call.id) {
            guard let place = synchronousPlace(of: task) else { continue }
            checkStream(task, place)
        }
    }

    private struct Place {
        let scope: Scope
        let parameters: Set<String>
        /// The name of the function, or of what the closure is passed to or assigned to.
        let name: String
        let labels: [String]
    }

    /// The synchronous function or callback that creates a task.
    private func synchronousPlace(of task: TaskCreation) -> Place? {
        if isOrderless(task) || task.closure.statements.text.contains("ontinuation.resume") { return nil }
        let scope = Scope(of: task.call)
        switch scope {
        case .function(let function):
            guard !function.isAsync else { return nil }
            let labels = function.signature.parameterClause.parameters.filter { !$0.type.text.contains("->") }.flatMap {
                [$0.firstName.text, $0.secondName?.text ?? ""]
            }
            return Place(
                scope: scope,
                parameters: Set(function.parameterNames),
                name: function.name.text,
                labels: labels
            )
        case .closure(let closure):
            guard closure.call?.isTaskCreation != true, !closure.runsInPlace,
                closure.statements.awaits(skip: isDeferredCode).isEmpty
            else { return nil }
            if let name = closure.call?.calledName, name.hasPrefix("addTask") { return nil }
            var name = closure.label.isEmpty ? closure.call?.calledName ?? "" : closure.label
            if let list = closure.parent?.as(ExprListSyntax.self), let target = list.first?.lastName { name = target }
            return Place(scope: scope, parameters: Set(closure.parameterNames + ["$0"]), name: name, labels: [])
        case .accessor, .initializer, .deinitializer:
            return scope.isAsync ? nil : Place(scope: scope, parameters: [], name: scope.name, labels: [])
        case .top: return nil
        }
    }

    private static let redrawing = [
        "setneeds", "invalidate", "reload", "layout", "refresh", "redraw", "update", "display",
    ]

    /// Whether the order of a task and another one has no meaning: it draws again, counts, or compares before it writes.
    private func isOrderless(_ task: TaskCreation) -> Bool {
        let statements = task.closure.statements
        if statements.count == 1, let item = statements.first?.item {
            if let call = item.as(ExprSyntax.self)?.unwrapped.as(FunctionCallExprSyntax.self),
                let name = call.calledName,
                call.arguments.isEmpty, Self.redrawing.contains(where: { name.lowercased().hasPrefix($0) })
            {
                return true
            }
            if let mutation = Mutation(Syntax(item)), !mutation.isAssignment, mutation.method == nil { return true }
        }
        return statements.contains { item in
            guard let check = item.item.as(GuardStmtSyntax.self) else { return false }
            return check.conditions.hasNode {
                [">", "<", ">=", "<=", "==", "!="].contains($0.as(BinaryOperatorExprSyntax.self)?.operator.text ?? "")
            }
        }
    }

    // MARK: Two tasks

    /// The actor that a task runs on, as far as the code tells.
    private func target(of task: TaskCreation) -> String? {
        if task.isOnMainActor { return "the main actor" }
        let awaits = task.closure.statements.awaits(skip: isOwnTask)
        guard awaits.count == 1, task.closure.statements.count == 1,
            let call = awaits[0].as(AwaitExprSyntax.self)?.expression.unwrapped.as(FunctionCallExprSyntax.self)
        else { return nil }
        guard let base = call.base?.unwrapped.text else {
            // A method of the actor itself.
            guard let owner = type(of: task.call), owner.kind == .actor else { return nil }
            return "`\(owner.shortName)`"
        }
        if base == "self" {
            guard let owner = type(of: task.call), owner.kind == .actor else { return nil }
            return "`\(owner.shortName)`"
        }
        // Independent calls of one object are no sequence; those of one verb are.
        return "`\(base)`"
    }

    private mutating func checkPairs(_ reported: inout Set<SyntaxIdentifier>) {
        var earlier: [SyntaxIdentifier: [(task: TaskCreation, target: String)]] = [:]
        for task in tasks where task.isDropped {
            guard let place = synchronousPlace(of: task), let node = place.scope.node, let target = target(of: task)
            else { continue }
            let before = earlier[node.id, default: []]
            earlier[node.id, default: []].append((task, target))
            guard
                before.contains(where: {
                    $0.target == target && canPrecede(Syntax($0.task.call), Syntax(task.call))
                        && !leavesAfter($0.task.call, before: task.call)
                })
            else { continue }
            reported.insert(task.call.id)
            report(
                .taskOrder,
                severity(of: task),
                at: task.call,
                "`\(place.name.isEmpty ? "a closure" : place.name)` creates a second task for \(target): nothing says that the first one runs first"
            )
        }
    }

    /// The main actor takes tasks that are isolated to it in the order of their creation, as long as they have one priority.
    private func severity(of task: TaskCreation) -> Severity {
        task.closure.attributeNames.contains("MainActor") ? .note : .warning
    }

    /// Whether the code between two tasks returns in the branch of the first.
    private func leavesAfter(_ first: FunctionCallExprSyntax, before second: FunctionCallExprSyntax) -> Bool {
        for ancestor in first.ancestors {
            if ancestor.encloses(second) { return false }
            if let block = ancestor.as(CodeBlockSyntax.self), block.leaves { return true }
        }
        return false
    }

    // MARK: Streams of data

    private static let streamWords = [
        "didreceive", "didupdate", "didoutput", "didwrite", "didproduce", "onmessage", "ondata", "onevent",
        "receivehandler", "datahandler",
        "messagehandler", "eventhandler", "readabilityhandler", "onupdate", "onvalue", "onnext", "online", "onchunk",
        "onframe", "onsample", "didread",
        "valueshandler", "updatehandler",
    ]
    private static let singleWords = [
        "changed", "challenge", "response", "memorywarning", "completionhandler", "completion", "notification",
        "request",
        "authorization", "token", "invitation", "error",
    ]
    private static let verbs: Set<String> = [
        "append", "write", "log", "enqueue", "record", "send", "emit", "yield", "publish", "push",
    ]

    private mutating func checkStream(_ task: TaskCreation, _ place: Place) {
        let body = Syntax(task.closure.statements)
        let used = place.parameters.filter {
            mentions($0, in: body) || capturesName($0, task.closure) || isDerived($0, in: place, usedIn: body)
        }
        let loop = task.call.ancestors.prefix { $0.id != place.scope.node?.id }.first { $0.is(ForStmtSyntax.self) }?.as(
            ForStmtSyntax.self
        )
        if let loop, task.isDropped, let verb = verb(in: task) {
            let item = loop.pattern.text
            if mentions(item, in: body) {
                report(
                    .taskOrder,
                    .warning,
                    at: task.call,
                    "a loop creates a task for each `\(item)`, and their calls of `\(verb)` run in any order"
                )
                return
            }
        }
        if let item = eachParameter(of: place), task.isDropped, let verb = verb(in: task), mentions(item, in: body) {
            report(
                .taskOrder,
                .warning,
                at: task.call,
                "a loop creates a task for each `\(item)`, and their calls of `\(verb)` run in any order"
            )
            return
        }
        guard !used.isEmpty else { return }
        // A handler that is called once for a request, with the answer.
        if case .function(let function) = place.scope,
            function.parameterNames.contains(where: { $0.lowercased().containsAny(["completion", "handler"]) })
        {
            return
        }
        let all = ([place.name] + place.labels).joined(separator: ":")
        // `onEvent`, and not `mutationEvent`.
        let isNamed = ([place.name] + place.labels).contains { part in
            let part = part.lowercased()
            return Self.streamWords.contains { $0.hasPrefix("on") ? part.hasPrefix($0) : part.contains($0) }
        }
        let isStream = isNamed && !all.containsAny(Self.singleWords) || armsItself(task)
        if isStream, task.isDropped, task.isOnMainActor || !body.awaits(skip: isOwnTask).isEmpty {
            report(
                .taskOrder,
                severity(of: task),
                at: task.call,
                "`\(place.name)` is called once for each part of a stream, and each call creates a task: the parts can arrive in another order"
            )
            return
        }
        // A synchronous function around one call, such as `log.append(line)`.
        guard case .function(let function) = place.scope,
            task.isDropped
                || task.isKept
                    && (task.call.parent?.is(CodeBlockItemSyntax.self) == true
                        || task.call.parent?.is(ReturnStmtSyntax.self) == true),
            let verb = verb(in: task) ?? ownMethod(in: task, function), loop == nil
        else { return }
        report(
            .taskOrder,
            severity(of: task),
            at: task.call,
            "`\(place.name)` creates a task for each call of `\(verb)`: two calls can run in the opposite order"
        )
    }

    /// The element of `lines.forEach { line in … }`.
    private func eachParameter(of place: Place) -> String? {
        guard case .closure(let closure) = place.scope, closure.call?.calledName == "forEach" else { return nil }
        return closure.parameterNames.first ?? "$0"
    }

    /// Whether the callback that a task is created in calls the function again that it was passed in: it is called for each part.
    private func armsItself(_ task: TaskCreation) -> Bool {
        guard case .closure(let closure) = Scope(of: task.call), closure.call != nil,
            case .function(let function) = Scope(of: task.call, skippingClosures: true), !function.isAsync,
            function.name.text.containsAny(["receive", "read", "listen", "next", "accept", "poll"])
        else { return false }
        return closure.statements.all(FunctionCallExprSyntax.self).contains { call in
            call.calledName == function.name.text && (call.base == nil || call.base?.unwrapped.isSelf == true)
        }
    }

    /// The method of an actor that its `nonisolated` function calls in a task.
    private func ownMethod(in task: TaskCreation, _ function: FunctionDeclSyntax) -> String? {
        guard function.modifiers.contains(where: { $0.name.text == "nonisolated" }), let owner = type(of: function),
            owner.kind == .actor, task.closure.statements.count == 1
        else { return nil }
        let awaits = task.closure.statements.awaits(skip: isOwnTask)
        guard awaits.count == 1,
            let call = awaits[0].as(AwaitExprSyntax.self)?.expression.unwrapped.as(FunctionCallExprSyntax.self),
            call.base == nil || call.base?.unwrapped.isSelf == true, let name = call.calledName,
            !call.arguments.isEmpty,
            methods(name, of: owner).contains(where: { method in
                method.body.map { body in
                    Mutation.all(in: Syntax(body), skip: { _ in false }).contains {
                        $0.method == "append" || $0.method == "insert" || $0.isAssignment
                    }
                } ?? false
            })
        else { return nil }
        return name
    }

    private func capturesName(_ name: String, _ closure: ClosureExprSyntax) -> Bool {
        closure.signature?.capture?.items.contains {
            $0.name.text == name || $0.initializer?.value.text.contains(name) == true
        } ?? false
    }

    /// Whether code uses a value that comes from a parameter: by a binding, a condition, or a case.
    private func isDerived(_ name: String, in place: Place, usedIn body: Syntax) -> Bool {
        guard let node = place.scope.node else { return false }
        var names: Set<String> = [name]
        func identifiers(_ pattern: some SyntaxProtocol) -> [String] {
            ([Syntax(pattern)] + pattern.all(IdentifierPatternSyntax.self).map { Syntax($0) }).compactMap {
                $0.as(IdentifierPatternSyntax.self)?.identifier.text
            }
        }
        func isFrom(_ value: (some SyntaxProtocol)?) -> Bool {
            guard let value else { return false }
            return names.contains { mentions($0, in: Syntax(value)) }
        }
        node.walk { child in
            guard child.position < body.position else { return false }
            if let binding = child.as(PatternBindingSyntax.self), isFrom(binding.initializer?.value) {
                names.formUnion(identifiers(binding.pattern))
            }
            if let binding = child.as(OptionalBindingConditionSyntax.self), isFrom(binding.initializer?.value) {
                names.formUnion(identifiers(binding.pattern))
            }
            if let match = child.as(MatchingPatternConditionSyntax.self), isFrom(match.initializer.value) {
                names.formUnion(identifiers(match.pattern))
            }
            if let choice = child.as(SwitchExprSyntax.self), isFrom(choice.subject) {
                for label in choice.cases.compactMap({ $0.as(SwitchCaseSyntax.self)?.label }) {
                    names.formUnion(identifiers(label))
                }
            }
            return true
        }
        names.remove(name)
        return names.contains { mentions($0, in: body) }
    }

    /// The method that a task calls, if the order of its calls matters: the only one that it awaits.
    private func verb(in task: TaskCreation) -> String? {
        let statements = task.closure.statements
        guard statements.count == 1, let first = statements.first else { return nil }
        let awaits = statements.awaits(skip: isOwnTask)
        if awaits.count == 1,
            let call = awaits[0].as(AwaitExprSyntax.self)?.expression.unwrapped.as(FunctionCallExprSyntax.self),
            let name = call.calledName, Self.verbs.contains(name), !call.arguments.isEmpty
        {
            return name
        }
        guard task.isOnMainActor, awaits.isEmpty else { return nil }
        if let call = first.item.as(ExprSyntax.self)?.unwrapped.as(FunctionCallExprSyntax.self),
            let name = call.calledName, Self.verbs.contains(name)
        {
            return name
        }
        return nil
    }
}
