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
        let scope = Scope(of: task.call)
        switch scope {
        case .function(let function):
            guard !function.isAsync else { return nil }
            let labels = function.signature.parameterClause.parameters.flatMap {
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
                .warning,
                at: task.call,
                "`\(place.name.isEmpty ? "a closure" : place.name)` creates a second task for \(target): nothing says that the first one runs first"
            )
        }
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
        guard !used.isEmpty else { return }
        let all = ([place.name] + place.labels).joined(separator: ":")
        let isStream = all.containsAny(Self.streamWords) && !all.containsAny(Self.singleWords)
        if isStream, task.isDropped, task.isOnMainActor || !body.awaits(skip: isOwnTask).isEmpty {
            report(
                .taskOrder,
                .warning,
                at: task.call,
                "`\(place.name)` is called once for each part of a stream, and each call creates a task: the parts can arrive in another order"
            )
            return
        }
        // A synchronous function around one call, such as `log.append(line)`.
        guard case .function = place.scope, let verb = verb(in: task), loop == nil else { return }
        switch task.fate {
        case .dropped, .discarded: break
        case .kept:
            guard
                task.call.parent?.is(CodeBlockItemSyntax.self) == true
                    || task.call.parent?.is(ReturnStmtSyntax.self) == true
            else { return }
        case .stored: return
        }
        report(
            .taskOrder,
            .warning,
            at: task.call,
            "`\(place.name)` creates a task for each call of `\(verb)`: two calls can run in the opposite order"
        )
    }

    private func capturesName(_ name: String, _ closure: ClosureExprSyntax) -> Bool {
        closure.signature?.capture?.items.contains {
            $0.name.text == name || $0.initializer?.value.text.contains(name) == true
        } ?? false
    }

    private func isDerived(_ name: String, in place: Place, usedIn body: Syntax) -> Bool {
        guard let node = place.scope.node else { return false }
        return node.all(PatternBindingSyntax.self, skip: { $0.position > body.position }).contains { binding in
            guard let value = binding.initializer?.value, mentions(name, in: Syntax(value)) else { return false }
            return mentions(binding.pattern.text, in: body)
        }
            || node.all(OptionalBindingConditionSyntax.self, skip: { $0.position > body.position }).contains {
                binding in
                guard let value = binding.initializer?.value, mentions(name, in: Syntax(value)) else { return false }
                return mentions(binding.pattern.text, in: body)
            }
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
