import SwiftSyntax

extension SyntaxProtocol {
    /// The nodes around this one, from the inside out.
    var ancestors: some Sequence<Syntax> {
        sequence(first: Syntax(self)) { $0.parent }.dropFirst()
    }

    /// Visits the nodes below this one in the order of the source.
    ///
    /// - Parameter visit: Returns whether to descend into the node.
    func walk(_ visit: (Syntax) -> Bool) {
        for child in children(viewMode: .sourceAccurate) where !child.is(TokenSyntax.self) {
            if visit(child) { child.walk(visit) }
        }
    }

    /// The nodes of a type below this one, except in the nodes that `skip` selects.
    func all<Node: SyntaxProtocol>(_ type: Node.Type, skip: (Syntax) -> Bool = { _ in false }) -> [Node] {
        var found: [Node] = []
        walk { node in
            if skip(node) { return false }
            if let node = node.as(type) { found.append(node) }
            return true
        }
        return found
    }

    func hasNode(skip: (Syntax) -> Bool = { _ in false }, where predicate: (Syntax) -> Bool) -> Bool {
        var found = false
        walk { node in
            if found || skip(node) { return false }
            found = predicate(node)
            return !found
        }
        return found
    }

    var start: AbsolutePosition { positionAfterSkippingLeadingTrivia }
    var end: AbsolutePosition { endPositionBeforeTrailingTrivia }
    var text: String { trimmedDescription }

    func encloses(_ other: some SyntaxProtocol) -> Bool {
        position <= other.position && other.endPosition <= endPosition
    }
}

/// Whether a node runs at another time than the code around it.
func isDeferredCode(_ node: Syntax) -> Bool {
    node.is(ClosureExprSyntax.self) || node.is(FunctionDeclSyntax.self) || isTypeDeclaration(node)
}

func isTypeDeclaration(_ node: Syntax) -> Bool {
    node.is(ClassDeclSyntax.self) || node.is(StructDeclSyntax.self) || node.is(EnumDeclSyntax.self)
        || node.is(ActorDeclSyntax.self)
        || node.is(ProtocolDeclSyntax.self) || node.is(ExtensionDeclSyntax.self)
}

/// Whether a node is a closure whose call has not certainly ended when the call that it is passed to returns.
///
/// Closures of `withTaskGroup` and its relatives, `do` and `MainActor.run` run in place.
func isOtherTime(_ node: Syntax) -> Bool {
    if let closure = node.as(ClosureExprSyntax.self) { return !closure.runsInPlace }
    return node.is(FunctionDeclSyntax.self) || isTypeDeclaration(node)
}

func isOwnTask(_ node: Syntax) -> Bool {
    guard let closure = node.as(ClosureExprSyntax.self) else {
        return node.is(FunctionDeclSyntax.self) || isTypeDeclaration(node)
    }
    guard let call = closure.call else { return false }
    return call.isTaskCreation || call.calledName == "addTask" || call.calledName == "addTaskUnlessCancelled"
}

extension ClosureExprSyntax {
    /// The call that the closure is an argument of.
    var call: FunctionCallExprSyntax? {
        if let call = parent?.as(FunctionCallExprSyntax.self) { return call }
        if let argument = parent?.as(LabeledExprSyntax.self) {
            return argument.parent?.parent?.as(FunctionCallExprSyntax.self)
        }
        return parent?.as(MultipleTrailingClosureElementSyntax.self)?.parent?.parent?.as(FunctionCallExprSyntax.self)
    }

    /// The label of the argument that the closure is; empty for the first trailing closure.
    var label: String {
        if let argument = parent?.as(LabeledExprSyntax.self) { return argument.label?.text ?? "" }
        return parent?.as(MultipleTrailingClosureElementSyntax.self)?.label.text ?? ""
    }

    static let namesInPlace: Set<String> = [
        "withTaskGroup", "withThrowingTaskGroup", "withDiscardingTaskGroup", "withThrowingDiscardingTaskGroup",
        "withTaskCancellationHandler",
        "withExtendedLifetime", "autoreleasepool", "withValue", "withTaskPriorityEscalationHandler", "withLock",
        "withLockedValue",
        "withSpan", "withTimeout", "withDeadline",
    ]

    var runsInPlace: Bool {
        guard let call else { return false }
        if call.calledExpression.is(ClosureExprSyntax.self) { return true }
        guard let name = call.calledName else { return false }
        if label == "onCancel" { return false }
        return Self.namesInPlace.contains(name) || (name == "run" && call.text.hasPrefix("MainActor.run"))
    }

    var parameterNames: [String] {
        guard let clause = signature?.parameterClause else { return [] }
        if let list = clause.as(ClosureShorthandParameterListSyntax.self) { return list.map { $0.name.text } }
        return clause.as(ClosureParameterClauseSyntax.self)?.parameters.map { ($0.secondName ?? $0.firstName).text }
            ?? []
    }

    var attributeNames: [String] {
        signature?.attributes.compactMap { $0.as(AttributeSyntax.self)?.attributeName.text } ?? []
    }
}

extension FunctionCallExprSyntax {
    /// The last name of what is called: `append` in `self.lines.append(line)`.
    var calledName: String? { calledExpression.lastName }

    /// The object or the type that the method is called on.
    var base: ExprSyntax? { calledExpression.unwrapped.as(MemberAccessExprSyntax.self)?.base }

    var closures: [ClosureExprSyntax] {
        var found = arguments.compactMap { $0.expression.as(ClosureExprSyntax.self) }
        if let trailingClosure { found.append(trailingClosure) }
        return found + additionalTrailingClosures.map(\.closure)
    }

    func closure(labeled label: String) -> ClosureExprSyntax? {
        closures.first { $0.label == label }
    }

    private static let taskLabels: Set<String> = ["", "priority", "name", "operation", "executorPreference"]

    /// Whether this is `Task { }`, `Task.detached { }` or a relative of these in the standard library.
    var isTaskCreation: Bool {
        var called = calledExpression
        if let member = called.as(MemberAccessExprSyntax.self) {
            if member.declName.baseName.text == "Task" {
                guard member.base?.text == "_Concurrency" else { return false }
                return hasTaskArguments
            }
            guard
                ["detached", "immediate", "immediateDetached", "startOnMainActor", "init"].contains(
                    member.declName.baseName.text
                ),
                let base = member.base
            else { return false }
            called = base
        }
        if let special = called.as(GenericSpecializationExprSyntax.self) { called = special.expression }
        guard called.as(DeclReferenceExprSyntax.self)?.baseName.text == "Task" || called.text == "_Concurrency.Task"
        else { return false }
        return hasTaskArguments
    }

    private var hasTaskArguments: Bool {
        guard arguments.allSatisfy({ Self.taskLabels.contains($0.label?.text ?? "") }) else { return false }
        return taskClosure != nil
    }

    var taskClosure: ClosureExprSyntax? {
        trailingClosure ?? closure(labeled: "operation") ?? closure(labeled: "")
    }

    /// Whether this is a call of `Task.sleep`, `clock.sleep` and similar methods of tasks.
    var isSleep: Bool {
        guard calledName == "sleep" else { return false }
        return base != nil
    }
}

extension ExprSyntax {
    /// The expression without `try`, `await`, parentheses, `!` and `?`.
    var unwrapped: ExprSyntax {
        var expression = self
        while true {
            if let next = expression.as(TryExprSyntax.self)?.expression { expression = next; continue }
            if let next = expression.as(AwaitExprSyntax.self)?.expression { expression = next; continue }
            if let next = expression.as(OptionalChainingExprSyntax.self)?.expression { expression = next; continue }
            if let next = expression.as(ForceUnwrapExprSyntax.self)?.expression { expression = next; continue }
            if let tuple = expression.as(TupleExprSyntax.self), tuple.elements.count == 1,
                let first = tuple.elements.first, first.label == nil
            {
                expression = first.expression
                continue
            }
            return expression
        }
    }

    /// Whether this is `self`. To compare texts of long chains would take long.
    var isSelf: Bool { self.as(DeclReferenceExprSyntax.self)?.baseName.tokenKind == .keyword(.self) }

    var lastName: String? {
        let expression = unwrapped
        if let reference = expression.as(DeclReferenceExprSyntax.self) { return reference.baseName.text }
        if let member = expression.as(MemberAccessExprSyntax.self) { return member.declName.baseName.text }
        if let special = expression.as(GenericSpecializationExprSyntax.self) { return special.expression.lastName }
        return nil
    }

    /// The property or variable that a chain of members, subscripts and calls begins with: `cache` in `self.cache[key]?.value`.
    var root: (name: String, viaSelf: Bool, isWhole: Bool)? {
        var expression = unwrapped
        var isWhole = true
        while true {
            if let member = expression.as(MemberAccessExprSyntax.self) {
                guard let base = member.base?.unwrapped else { return nil }
                if base.isSelf { return (member.declName.baseName.text, true, isWhole) }
                expression = base
            } else if let subscripted = expression.as(SubscriptCallExprSyntax.self) {
                expression = subscripted.calledExpression.unwrapped
            } else if let call = expression.as(FunctionCallExprSyntax.self) {
                expression = call.calledExpression.unwrapped
            } else if let reference = expression.as(DeclReferenceExprSyntax.self) {
                guard reference.baseName.text != "self" else { return nil }
                return (reference.baseName.text, false, isWhole)
            } else {
                return nil
            }
            isWhole = false
        }
    }
}

extension DeclReferenceExprSyntax {
    /// Whether this is the first part of a path: `items` in `items.count`, and not `count`.
    var isFirst: Bool {
        guard let member = parent?.as(MemberAccessExprSyntax.self) else {
            return parent?.is(KeyPathPropertyComponentSyntax.self) != true
        }
        return member.base?.id == Syntax(self).id
    }
}
