import SwiftSyntax

extension Context {
    /// Rule 3: a task for each event, whose result is assigned without a check of the order.
    mutating func checkTasksPerEvent() {
        guard !file.isTest else { return }
        for task in tasks {
            guard let owner = type(of: task.call), let event = event(of: task) else { continue }
            if case .stored(let store) = task.fate, cancelsBefore(task, store, owner) { continue }
            if task.isKept, cancelsAny(before: task) { continue }
            guard let target = assignedResult(of: task, owner: owner, event: event),
                !admitsOneAtATime(task, event, owner)
            else { continue }
            report(
                .taskPerEvent,
                asksForEvent(task, event, owner) ? .warning : .note,
                at: task.call,
                "\(event.name) starts a task each time, and whichever ends last decides `\(target)`: an old result can overwrite a newer one"
            )
        }
    }

    private struct Event {
        /// The event, as the beginning of a sentence.
        let name: String
        /// Whether the name says that the code runs once per event.
        let isNamed: Bool
        let parameters: Set<String>
        let scope: Syntax
    }

    private static let eventCalls: Set<String> = [
        "onChange", "onReceive", "sink", "onSubmit", "onEditingChanged", "onTextChange", "onKeyPress", "onMove",
        "onScroll", "textChanged",
    ]
    private static let eventWords = [
        "didchange", "changed", "onchange", "didupdate", "updatesearchresults", "didedit", "didselect", "keystroke",
        "typed", "didscroll",
        "textfield(", "didtype", "willchange", "valuechange", "querychange", "textchange", "selectionchange",
    ]

    private func event(of task: TaskCreation) -> Event? {
        for ancestor in task.call.ancestors {
            if let closure = ancestor.as(ClosureExprSyntax.self) {
                guard let call = closure.call else {
                    if let sequence = closure.parent?.parent?.as(SequenceExprSyntax.self),
                        let first = sequence.elements.first,
                        let name = first.lastName, isEventName(name)
                    {
                        return Event(
                            name: "`\(name)`",
                            isNamed: true,
                            parameters: Set(closure.parameterNames),
                            scope: Syntax(closure)
                        )
                    }
                    continue
                }
                if call.isTaskCreation { return nil }
                if let name = call.calledName,
                    Self.eventCalls.contains(name) || isEventName(name) || isEventName(closure.label)
                {
                    return Event(
                        name: "`\(name)`",
                        isNamed: true,
                        parameters: Set(closure.parameterNames),
                        scope: Syntax(closure)
                    )
                }
                continue
            }
            if let accessor = ancestor.as(AccessorDeclSyntax.self) {
                let name = accessor.accessorSpecifier.text
                guard ["didSet", "willSet", "set"].contains(name) else { return nil }
                let property =
                    accessor.ancestors.lazy.compactMap { $0.as(PatternBindingSyntax.self)?.pattern.text }.first { _ in
                        true
                    } ?? ""
                return Event(
                    name: "`\(name)` of `\(property)`",
                    isNamed: true,
                    parameters: ["newValue", "oldValue", property],
                    scope: Syntax(accessor)
                )
            }
            if let function = ancestor.as(FunctionDeclSyntax.self) {
                guard !function.isAsync else { return nil }
                let labels = function.signature.parameterClause.parameters.map { $0.firstName.text }.joined(
                    separator: ":"
                )
                let isNamed = isEventName(function.name.text + "(" + labels)
                let parameters = Set(function.parameterNames)
                guard isNamed || !parameters.isEmpty else { return nil }
                return Event(
                    name: "`\(function.name.text)`",
                    isNamed: isNamed,
                    parameters: parameters,
                    scope: Syntax(function)
                )
            }
            if ancestor.is(InitializerDeclSyntax.self) || isTypeDeclaration(ancestor) { return nil }
        }
        return nil
    }

    /// Whether the function cancels something before it makes a task that it keeps in a wrapper.
    private func cancelsAny(before task: TaskCreation) -> Bool {
        Scope(of: task.call, skippingClosures: true).node?.all(FunctionCallExprSyntax.self).contains {
            $0.calledName == "cancel" && $0.position < task.call.position
        } ?? false
    }

    /// Whether a guard above the task lets in one event at a time: it looks at a member that the code around the task changes.
    private func admitsOneAtATime(_ task: TaskCreation, _ event: Event, _ owner: TypeInfo) -> Bool {
        guard let body = Scope(of: task.call, skippingClosures: true).node ?? Optional(event.scope) else {
            return false
        }
        let changed = Mutation.all(in: body, skip: { _ in false }).filter { !isOwnTask($0.node) }.map(\.root.name)
        func isGate(_ conditions: ConditionElementListSyntax) -> Bool {
            guard conditions.position < task.call.position else { return false }
            return conditions.all(DeclReferenceExprSyntax.self).contains { reference in
                let name = reference.baseName.text
                guard isMember(name, of: owner) else { return false }
                return changed.contains(name)
            }
        }
        for node in body.all(ConditionElementListSyntax.self) where isGate(node) {
            if node.parent?.is(GuardStmtSyntax.self) == true { return true }
            if let condition = node.parent?.as(IfExprSyntax.self),
                condition.body.leaves || condition.body.encloses(task.call)
            {
                return true
            }
        }
        return false
    }

    /// Whether the question is another one for another event: it has a value in it that is not the same each time.
    private func asksForEvent(_ task: TaskCreation, _ event: Event, _ owner: TypeInfo) -> Bool {
        let body = Syntax(task.closure.statements)
        let awaited = body.awaits(skip: isOwnTask)
        if awaited.contains(where: { node in event.parameters.contains { mentions($0, in: node) } }) { return true }
        return awaited.contains { awaiting in
            awaiting.all(FunctionCallExprSyntax.self).contains { call in
                call.arguments.contains { argument in
                    let value = argument.expression
                    guard !value.is(ClosureExprSyntax.self), let root = value.root else { return false }
                    guard root.name.first?.isLowercase == true else { return false }
                    // A constant of the type, such as a client, is no question.
                    if let property = index.property(root.name, of: owner, module: file.module) {
                        return !property.isConstant || !root.isWhole
                    }
                    return true
                }
            }
        }
    }

    private func isEventName(_ name: String) -> Bool { name.containsAny(Self.eventWords) }

    /// Whether the previous task is cancelled, or awaited, before the new one is stored.
    private func cancelsBefore(_ task: TaskCreation, _ store: TaskCreation.Store, _ owner: TypeInfo) -> Bool {
        guard let body = Scope(of: task.call, skippingClosures: true).node else { return false }
        if lifeOfProperty(store.name, owner: owner).observesOldValue { return true }
        return body.hasNode { node in
            guard node.position < store.node.position else { return false }
            if let call = node.as(FunctionCallExprSyntax.self), let name = call.calledName {
                if name == "cancel", let root = call.base?.root { return root.name == store.name || !root.viaSelf }
                guard call.base == nil || call.base?.text == "self" else { return false }
                return methods(name, of: owner).contains {
                    $0.body.map { cancels(store.name, in: Syntax($0)) } ?? false
                }
            }
            return false
        }
    }

    /// The property that a task assigns an awaited result to, without a check in between.
    private func assignedResult(of task: TaskCreation, owner: TypeInfo, event: Event) -> String? {
        let body = Syntax(task.closure.statements)
        if let target = assignedResult(in: body, owner: owner, event: event, around: event.scope) { return target }
        // `Task { await search(query) }`, where `search` assigns.
        let awaits = body.awaits(skip: isOwnTask)
        guard event.isNamed, awaits.count == 1, task.closure.statements.count == 1,
            let call = awaits[0].as(AwaitExprSyntax.self)?.expression.unwrapped.as(FunctionCallExprSyntax.self),
            let name = call.calledName,
            call.base == nil || call.base?.unwrapped.text == "self"
        else { return nil }
        for method in methods(name, of: owner) {
            guard let body = method.body, !cancelsOrChecks(body) else { continue }
            let inner = Event(
                name: event.name,
                isNamed: true,
                parameters: Set(method.parameterNames),
                scope: Syntax(method)
            )
            if let target = assignedResult(in: Syntax(body), owner: owner, event: inner, around: Syntax(method)) {
                return target
            }
        }
        return nil
    }

    private func cancelsOrChecks(_ body: CodeBlockSyntax) -> Bool {
        body.checksCancellation() || body.text.contains(".cancel()")
    }

    private func assignedResult(in body: Syntax, owner: TypeInfo, event: Event, around scope: Syntax) -> String? {
        let locals = localNames(scope).union(conditionNames(scope))
        let awaits = body.awaits(skip: isOwnTask).filter { $0.is(AwaitExprSyntax.self) }
        guard let last = awaits.last else { return nil }
        let dependsOnEvent = awaits.contains { awaiting in
            event.parameters.contains { mentions($0, in: awaiting) }
        }
        guard event.isNamed || dependsOnEvent else { return nil }
        let results = awaitedNames(in: body)
        for mutation in Mutation.all(in: body, skip: isOwnTask) {
            guard mutation.isAssignment || event.isNamed, !mutation.target.unwrapped.is(SubscriptCallExprSyntax.self)
            else { continue }
            guard mutation.root.viaSelf || !locals.contains(mutation.root.name), mutation.node.end > awaits[0].position
            else { continue }
            let isOfOwner = property(mutation.root, in: owner, locals: locals) != nil || optionalSelf(mutation.target)
            guard isOfOwner else { continue }
            // Of a member that is read when the task runs, the newest value is taken.
            if mutation.values.count == 1, let read = mutation.values.first?.unwrapped,
                read.is(DeclReferenceExprSyntax.self)
                    || read.as(MemberAccessExprSyntax.self)?.base?.isSelf == true
            {
                if mutation.awaits { continue }
            }
            // Errors and flags are overwritten too, but the harm is in the result.
            let usesResult =
                mutation.awaits
                || mutation.values.contains { value in results.contains { mentions($0, in: Syntax(value)) } }
            guard usesResult else { continue }
            let isChecked = body.hasNode { node in
                guard node.position < mutation.node.position,
                    node.position > awaits[0].position || node.encloses(last) == false,
                    node.is(GuardStmtSyntax.self) || node.is(IfExprSyntax.self)
                else { return false }
                let conditions = node.as(GuardStmtSyntax.self)?.conditions ?? node.as(IfExprSyntax.self)?.conditions
                guard let conditions, node.is(GuardStmtSyntax.self) || node.encloses(mutation.node) else {
                    return false
                }
                return conditions.checksCancellation()
                    || conditions.hasNode {
                        ["==", "===", "<=", ">=", "<", ">", "!="].contains(
                            $0.as(BinaryOperatorExprSyntax.self)?.operator.text ?? ""
                        )
                    }
            }
            if isChecked || checksBetween(awaits[0], mutation.node, in: body) { continue }
            return mutation.target.text.replacingPrefix("self?.").replacingPrefix("self.")
        }
        return nil
    }

    private func checksBetween(_ first: Syntax, _ second: Syntax, in body: Syntax) -> Bool {
        body.hasNode { node in
            guard node.position > first.position, node.position < second.position else { return false }
            return node.as(DeclReferenceExprSyntax.self)?.baseName.text == "checkCancellation"
        }
    }

    private func optionalSelf(_ target: ExprSyntax) -> Bool { target.text.hasPrefix("self?.") }

    /// The names of local values that an `await` produces.
    func awaitedNames(in body: Syntax) -> Set<String> {
        var names: Set<String> = []
        body.walk { node in
            if isOwnTask(node) { return false }
            func add(_ pattern: PatternSyntax, _ value: ExprSyntax?) {
                let isDerived = value.map { value in names.contains { mentions($0, in: Syntax(value)) } } ?? false
                guard let value, value.containsAwait || isDerived else { return }
                Syntax(pattern).walk {
                    if let name = $0.as(IdentifierPatternSyntax.self) { names.insert(name.identifier.text) };
                    return true
                }
                if let name = pattern.as(IdentifierPatternSyntax.self) { names.insert(name.identifier.text) }
            }
            if let binding = node.as(PatternBindingSyntax.self) { add(binding.pattern, binding.initializer?.value) }
            if let binding = node.as(OptionalBindingConditionSyntax.self) {
                add(binding.pattern, binding.initializer?.value)
            }
            return true
        }
        return names
    }
}

extension String {
    func replacingPrefix(_ prefix: String) -> String { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self }
}
