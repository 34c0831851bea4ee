import SwiftSyntax

/// A `Task { }`, and the use of its handle.
struct TaskCreation {
    enum Fate {
        /// A statement, or a variable that nothing reads.
        case dropped
        /// `_ = Task { }`.
        case discarded
        /// Stored in a property or a variable, with the key of a dictionary if there is one.
        case stored(Store)
        /// Returned, passed on, awaited, or kept in a local variable.
        case kept
    }

    struct Store {
        let name: String
        let viaSelf: Bool
        /// The key of a dictionary.
        let key: String?
        /// The assignment, or the call that stores the task.
        let node: Syntax
        /// The variable that holds the task before it is stored.
        let local: String?
        /// The target of the assignment, as it is written.
        let target: String
    }

    let call: FunctionCallExprSyntax
    let closure: ClosureExprSyntax
    let fate: Fate
    /// Whether the task is in an object that cancels it when it goes, such as `AnyCancellable`.
    let isWrapped: Bool

    init?(_ call: FunctionCallExprSyntax) {
        guard let closure = call.taskClosure else { return nil }
        self.call = call
        self.closure = closure
        isWrapped = call.wrapped != nil
        fate = Self.fate(of: call.wrapped ?? call)
    }

    /// Whether the task is a local value that code of the function uses.
    var isKept: Bool { if case .kept = fate { true } else { false } }

    var isDropped: Bool {
        switch fate {
        case .dropped, .discarded: true
        default: false
        }
    }

    var isOnMainActor: Bool {
        if closure.attributeNames.contains("MainActor") { return true }
        // Task { await MainActor.run { … } }
        let statements = closure.statements
        guard statements.count == 1, let first = statements.first else { return false }
        return first.text.hasPrefix("await MainActor.run")
    }

    private static let namesThatCollect: Set<String> = [
        "map", "compactMap", "flatMap", "reduce", "lazy", "init", "withLock", "withLockedValue", "assumeIsolated",
    ]

    private static func fate(of call: FunctionCallExprSyntax) -> Fate {
        guard let parent = call.parent else { return .kept }
        if let item = parent.as(CodeBlockItemSyntax.self) { return isResult(item) ? .kept : .dropped }
        if let initializer = parent.as(InitializerClauseSyntax.self),
            let binding = initializer.parent?.as(PatternBindingSyntax.self)
        {
            guard
                binding.ancestors.first(where: { $0.is(CodeBlockItemSyntax.self) || $0.is(MemberBlockItemSyntax.self) }
                )?
                .is(CodeBlockItemSyntax.self) == true
            else {
                guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else { return .kept }
                return .stored(
                    Store(name: name, viaSelf: true, key: nil, node: Syntax(binding), local: nil, target: name)
                )
            }
            guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else {
                return binding.pattern.is(WildcardPatternSyntax.self) ? .discarded : .kept
            }
            return fate(ofLocal: name, declared: binding)
        }
        if let list = parent.as(ExprListSyntax.self), let sequence = list.parent?.as(SequenceExprSyntax.self) {
            let elements = Array(list)
            guard elements.count == 3, elements[1].is(AssignmentExprSyntax.self), elements[2].id == ExprSyntax(call).id
            else { return .kept }
            if elements[0].is(DiscardAssignmentExprSyntax.self) { return .discarded }
            return assignment(to: elements[0], node: Syntax(sequence), local: nil) ?? .kept
        }
        // tasks.append(Task { }), tasks.insert(Task { })
        if let argument = parent.as(LabeledExprSyntax.self),
            let outer = argument.parent?.parent?.as(FunctionCallExprSyntax.self)
        {
            guard ["append", "insert"].contains(outer.calledName ?? ""), let root = outer.base?.root else {
                return .kept
            }
            return .stored(
                Store(
                    name: root.name,
                    viaSelf: root.viaSelf,
                    key: "+",
                    node: Syntax(outer),
                    local: nil,
                    target: outer.base?.text ?? root.name
                )
            )
        }
        return .kept
    }

    /// Whether a statement is what a function, a closure or an accessor returns.
    private static func isResult(_ item: CodeBlockItemSyntax) -> Bool {
        guard let list = item.parent?.as(CodeBlockItemListSyntax.self), list.count == 1, let block = list.parent else {
            return false
        }
        if let closure = block.as(ClosureExprSyntax.self) {
            if let result = closure.signature?.returnClause {
                return result.type.text != "Void" && result.type.text != "()"
            }
            guard let call = closure.call else {
                // A closure that is stored: its type is elsewhere.
                guard
                    let type = closure.ancestors.lazy.compactMap({
                        $0.as(PatternBindingSyntax.self)?.typeAnnotation?.type.text
                    })
                    .first(where: { _ in true })
                else { return false }
                return type.contains("Task<")
            }
            return call.calledName.map { namesThatCollect.contains($0) }
                ?? call.calledExpression.is(ClosureExprSyntax.self)
        }
        if let getter = block.as(AccessorBlockSyntax.self) {
            return getter.parent?.is(PatternBindingSyntax.self) ?? false
        }
        guard let owner = block.parent else { return false }
        if let function = owner.as(FunctionDeclSyntax.self) { return !function.returnsVoid }
        if let accessor = owner.as(AccessorDeclSyntax.self) { return accessor.accessorSpecifier.text == "get" }
        return false
    }

    private static func assignment(to target: ExprSyntax, node: Syntax, local: String?) -> Fate? {
        guard let root = target.root else { return nil }
        var key: String?
        if let subscripted = target.unwrapped.as(SubscriptCallExprSyntax.self) { key = subscripted.arguments.text }
        // A variable of the function: it is kept as long as the function is.
        if !root.viaSelf, let scope = Scope(of: node, skippingClosures: true).node,
            localNames(scope).contains(root.name)
        {
            return .kept
        }
        // A property of another object, as in `box.task = Task { }`.
        if key == nil, !root.isWhole { return .kept }
        return .stored(
            Store(name: root.name, viaSelf: root.viaSelf, key: key, node: node, local: local, target: target.text)
        )
    }

    private static func fate(ofLocal name: String, declared binding: PatternBindingSyntax) -> Fate {
        guard let body = binding.ancestors.first(where: { $0.is(CodeBlockItemListSyntax.self) }) else { return .kept }
        var isUsed = false
        var store: Fate?
        body.walk { node in
            if store != nil { return false }
            guard let reference = node.as(DeclReferenceExprSyntax.self), reference.baseName.text == name,
                reference.position > binding.position,
                reference.isFirst
            else { return true }
            isUsed = true
            if let list = reference.parent?.as(ExprListSyntax.self),
                let sequence = list.parent?.as(SequenceExprSyntax.self)
            {
                let elements = Array(list)
                if elements.count == 3, elements[1].is(AssignmentExprSyntax.self),
                    elements[2].id == ExprSyntax(reference).id,
                    !elements[0].is(DiscardAssignmentExprSyntax.self)
                {
                    store = assignment(to: elements[0], node: Syntax(sequence), local: name)
                }
            }
            // `entries[key] = .running(task)`
            if let argument = reference.parent?.as(LabeledExprSyntax.self),
                let outer = argument.parent?.parent?.as(FunctionCallExprSyntax.self),
                let list = outer.parent?.as(ExprListSyntax.self),
                let sequence = list.parent?.as(SequenceExprSyntax.self)
            {
                let elements = Array(list)
                if elements.count == 3, elements[1].is(AssignmentExprSyntax.self),
                    !elements[0].is(DiscardAssignmentExprSyntax.self),
                    outer.calledExpression.text.hasPrefix(".")
                {
                    store = assignment(to: elements[0], node: Syntax(sequence), local: name)
                }
            }
            if let argument = reference.parent?.as(LabeledExprSyntax.self),
                let outer = argument.parent?.parent?.as(FunctionCallExprSyntax.self),
                ["append", "insert"].contains(outer.calledName ?? ""), let root = outer.base?.root,
                let scope = Scope(of: outer, skippingClosures: true).node,
                root.viaSelf || !localNames(scope).contains(root.name)
            {
                store = .stored(
                    Store(
                        name: root.name,
                        viaSelf: root.viaSelf,
                        key: "+",
                        node: Syntax(outer),
                        local: name,
                        target: outer.base?.text ?? root.name
                    )
                )
            }
            return true
        }
        if let store { return store }
        return isUsed ? .kept : .dropped
    }
}

extension FunctionCallExprSyntax {
    /// The call that wraps a task: `cancellable()` in `Task { … }.cancellable()`.
    fileprivate var wrapped: FunctionCallExprSyntax? {
        guard let member = parent?.as(MemberAccessExprSyntax.self),
            let call = member.parent?.as(FunctionCallExprSyntax.self),
            call.arguments.isEmpty, member.declName.baseName.text.lowercased().hasSuffix("cancellable")
        else { return nil }
        return call
    }
}
