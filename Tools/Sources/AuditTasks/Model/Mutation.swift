import SwiftSyntax

/// A change of a variable or a property.
struct Mutation {
    let root: (name: String, viaSelf: Bool, isWhole: Bool)
    let target: ExprSyntax
    /// The assigned values, or the arguments of a method that changes what it is called on.
    let values: [ExprSyntax]
    let isAssignment: Bool
    let method: String?
    let node: Syntax

    static let methods: Set<String> = [
        "append", "insert", "remove", "removeValue", "removeAll", "removeFirst", "removeLast", "updateValue", "merge",
        "formUnion", "subtract",
        "toggle", "popFirst", "popLast", "formIntersection", "enqueue", "push", "add", "set",
    ]

    /// The changes below a node, except in what `skip` selects.
    static func all(in node: Syntax, skip: (Syntax) -> Bool) -> [Mutation] {
        var found: [Mutation] = []
        node.walk { child in
            if skip(child) { return false }
            if let mutation = Mutation(child) { found.append(mutation) }
            return true
        }
        return found
    }

    init?(_ node: Syntax) {
        if let sequence = node.as(SequenceExprSyntax.self) {
            let elements = Array(sequence.elements)
            guard elements.count >= 3 else { return nil }
            let isPlain = elements[1].is(AssignmentExprSyntax.self)
            let isCompound =
                elements[1].as(BinaryOperatorExprSyntax.self).map { Self.isCompound($0.operator.text) } ?? false
            guard isPlain || isCompound, let root = elements[0].root else { return nil }
            self.root = root
            target = elements[0]
            values = Array(elements[2...])
            isAssignment = isPlain
            method = nil
            self.node = node
            return
        }
        guard let call = node.as(FunctionCallExprSyntax.self), let name = call.calledName, Self.methods.contains(name),
            let base = call.base,
            let root = base.root
        else { return nil }
        self.root = root
        target = base
        values = call.arguments.map(\.expression)
        isAssignment = false
        method = name
        self.node = node
    }

    private static func isCompound(_ text: String) -> Bool {
        text.count >= 2 && text.hasSuffix("=") && !["==", "!=", "<=", ">=", "===", "!==", "~="].contains(text)
    }

    var awaits: Bool { values.contains { $0.containsAwait } }

    /// Whether the property becomes `nil` or empty.
    var isReset: Bool {
        if isAssignment { return values.count == 1 && ["nil", "[:]", "[]", ".none"].contains(values[0].text) }
        return method.map { $0.hasPrefix("remove") || $0.hasPrefix("pop") } ?? false
    }
}

extension ExprSyntax {
    var containsAwait: Bool {
        self.is(AwaitExprSyntax.self) || hasNode(skip: isOtherTime) { $0.is(AwaitExprSyntax.self) }
    }
}

extension SyntaxProtocol {
    /// The places below this node where a task may suspend.
    func awaits(skip: (Syntax) -> Bool = isOtherTime) -> [Syntax] {
        var found: [Syntax] = []
        walk { node in
            if skip(node) { return false }
            if node.is(AwaitExprSyntax.self) || node.as(ForStmtSyntax.self)?.awaitKeyword != nil { found.append(node) }
            return true
        }
        return found
    }

    /// Whether code checks for a cancellation.
    func checksCancellation(skip: (Syntax) -> Bool = { _ in false }) -> Bool {
        hasNode(skip: skip) { node in
            guard let reference = node.as(DeclReferenceExprSyntax.self) else { return false }
            return [
                "isCancelled", "checkCancellation", "CancellationError", "cancelled", "isCancellation",
                "isShuttingDown",
            ]
            .contains(reference.baseName.text) || reference.baseName.text.lowercased().hasPrefix("iscancel")
        }
    }

    /// Whether code certainly leaves the block that it is in.
    var leaves: Bool {
        guard let last = self.as(CodeBlockSyntax.self)?.statements.last ?? self.as(CodeBlockItemListSyntax.self)?.last
        else { return false }
        return last.item.leavesBlock
    }
}

extension CodeBlockItemSyntax.Item {
    var leavesBlock: Bool {
        if let expression = self.as(ExpressionStmtSyntax.self)?.expression ?? self.as(ExprSyntax.self) {
            return expression.leavesBlock
        }
        return self.is(ReturnStmtSyntax.self) || self.is(ThrowStmtSyntax.self) || self.is(BreakStmtSyntax.self)
            || self.is(ContinueStmtSyntax.self)
    }
}

extension ExprSyntax {
    var leavesBlock: Bool {
        if let condition = self.as(IfExprSyntax.self) {
            guard condition.body.leaves, let other = condition.elseBody else { return false }
            if let block = other.as(CodeBlockSyntax.self) { return block.leaves }
            return other.as(IfExprSyntax.self).map { ExprSyntax($0).leavesBlock } ?? false
        }
        guard let name = self.as(FunctionCallExprSyntax.self)?.calledName else { return false }
        return ["fatalError", "preconditionFailure", "exit", "abort"].contains(name)
    }
}
