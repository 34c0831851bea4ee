import SwiftSyntax

extension Context {
    /// Rule 5: an actor's state is checked, and changed after an `await`, during which another caller makes the same check.
    mutating func checkChecksBeforeAwaits() {
        for function in functions where function.isAsync && !function.isStatic {
            guard let body = function.body, let owner = type(of: function), isIsolated(function, in: owner) else {
                continue
            }
            let locals = localNames(Syntax(function))
            var seen: Set<String> = []
            for check in checks(in: body, owner: owner, locals: locals) {
                for name in check.properties.sorted() where !seen.contains(name) {
                    guard let change = change(of: name, after: check, in: body, owner: owner, locals: locals) else {
                        continue
                    }
                    seen.insert(name)
                    report(
                        .checkThenAwait,
                        .warning,
                        at: change.node,
                        "`\(name)` of the \(owner.kind == .actor ? "actor" : "isolated type") `\(owner.shortName)` is checked before an `await` and changed after it: callers that come in between pass the same check"
                    )
                }
            }
            checkSharedRefresh(function, body, owner: owner, locals: locals)
        }
    }

    func isIsolated(_ function: FunctionDeclSyntax, in owner: TypeInfo) -> Bool {
        if function.modifiers.contains(where: { $0.name.text == "nonisolated" }) { return false }
        if function.attributeNames.contains("concurrent") { return false }
        if owner.kind == .struct || owner.kind == .enum { return false }
        return index.isIsolated(owner, module: file.module) || index.isolatesGlobally(function.attributeNames)
    }

    private struct Check {
        let properties: Set<String>
        /// The code behind the check in which a change counts.
        let from: AbsolutePosition
        let to: AbsolutePosition
    }

    private func checks(in body: CodeBlockSyntax, owner: TypeInfo, locals: Set<String>) -> [Check] {
        var found: [Check] = []
        body.walk { node in
            if isOwnTask(node) || node.is(ClosureExprSyntax.self) { return false }
            if let condition = node.as(IfExprSyntax.self) {
                let names = names(in: Syntax(condition.conditions), owner: owner, locals: locals)
                guard !names.isEmpty else { return true }
                if condition.body.leaves {
                    let end = blockEnd(of: node, in: body)
                    found.append(Check(properties: names, from: node.end, to: end))
                    if let other = condition.elseBody {
                        found.append(Check(properties: names, from: other.position, to: other.endPosition))
                    }
                } else {
                    found.append(
                        Check(
                            properties: names,
                            from: condition.body.position,
                            to: condition.body.endPosition
                        )
                    )
                    if let other = condition.elseBody {
                        found.append(Check(properties: names, from: other.position, to: other.endPosition))
                    }
                }
            }
            if let condition = node.as(GuardStmtSyntax.self) {
                let names = names(in: Syntax(condition.conditions), owner: owner, locals: locals)
                if !names.isEmpty {
                    found.append(
                        Check(
                            properties: names,
                            from: condition.body.position,
                            to: condition.body.endPosition
                        )
                    )
                    found.append(
                        Check(
                            properties: names,
                            from: node.end,
                            to: blockEnd(of: node, in: body)
                        )
                    )
                }
            }
            if let choice = node.as(SwitchExprSyntax.self) {
                let names = names(in: Syntax(choice.subject), owner: owner, locals: locals)
                for element in choice.cases {
                    guard !names.isEmpty, let element = element.as(SwitchCaseSyntax.self) else { continue }
                    found.append(Check(properties: names, from: element.position, to: element.endPosition))
                }
            }
            return true
        }
        return found
    }

    /// The end of the block that a statement is in, and that its successors are in.
    private func blockEnd(of node: Syntax, in body: CodeBlockSyntax) -> AbsolutePosition {
        node.ancestors.first { $0.is(CodeBlockItemListSyntax.self) }?.endPosition ?? body.endPosition
    }

    private func names(in condition: Syntax, owner: TypeInfo, locals: Set<String>) -> Set<String> {
        var names: Set<String> = []
        func add(_ name: String, viaSelf: Bool) {
            guard viaSelf || !locals.contains(name), let property = index.property(name, of: owner, module: file.module)
            else { return }
            guard !property.isStatic, !property.isConstant, !property.isComputed || owner.kind == .protocol else {
                return
            }
            names.insert(name)
        }
        func visit(_ node: Syntax) {
            if let reference = node.as(DeclReferenceExprSyntax.self) {
                if reference.isFirst {
                    add(reference.baseName.text, viaSelf: false)
                } else if let member = reference.parent?.as(MemberAccessExprSyntax.self), member.base?.text == "self" {
                    add(reference.baseName.text, viaSelf: true)
                }
            }
            if let binding = node.as(OptionalBindingConditionSyntax.self), binding.initializer == nil {
                add(binding.pattern.text, viaSelf: false)
            }
        }
        // `let known = cache[key]`, and then `if known == nil`.
        if let scope = Scope(of: condition).node {
            for binding in scope.all(PatternBindingSyntax.self, skip: isDeferredCode)
            where binding.position < condition.position {
                guard let value = binding.initializer?.value, !value.containsAwait, let root = value.root,
                    let name = property(root, in: owner, locals: locals),
                    mentions(binding.pattern.text, in: condition)
                else { continue }
                add(name, viaSelf: true)
            }
        }
        visit(condition)
        condition.walk { node in
            if node.is(ClosureExprSyntax.self) { return false }
            visit(node)
            return true
        }
        return names
    }

    /// The change of a property behind an await that follows a check.
    private func change(
        of name: String,
        after check: Check,
        in body: CodeBlockSyntax,
        owner: TypeInfo,
        locals: Set<String>
    ) -> Mutation? {
        func isSkipped(_ node: Syntax) -> Bool {
            isOwnTask(node) || node.is(DeferStmtSyntax.self) || node.is(ClosureExprSyntax.self)
        }
        func isIn(_ node: Syntax) -> Bool { node.position >= check.from && node.endPosition <= check.to }
        let changes = Mutation.all(in: Syntax(body), skip: isSkipped).filter {
            isIn($0.node) && property($0.root, in: owner, locals: locals) != nil
        }
        let awaits = body.awaits(skip: { isOwnTask($0) || $0.is(DeferStmtSyntax.self) }).filter { isIn($0) }
        for change in changes where change.root.name == name {
            // Its own value, or an earlier statement, awaits.
            guard
                let first = awaits.first(where: {
                    $0.position < change.node.end && canPrecede($0, change.node)
                        && !isLeaving($0, before: change.node, body: body)
                })
            else { continue }
            // To empty a property twice does no harm.
            guard !change.isReset else { continue }
            // The state has changed before the await, so that the next caller sees it.
            let isMarked = changes.contains { $0.node.end <= first.start && canPrecede($0.node, first) }
            if isMarked { continue }
            let isCalled = marks(before: first, from: check.from, in: body, owner: owner)
            if isCalled { continue }
            // The check is made again after the await.
            let isChecked = body.hasNode { node in
                guard node.position >= first.end, node.end < change.node.end || node.encloses(change.node) else {
                    return false
                }
                let conditions =
                    node.as(IfExprSyntax.self).map { Syntax($0.conditions) }
                    ?? node.as(GuardStmtSyntax.self).map { Syntax($0.conditions) }
                guard let conditions, conditions.position >= first.end else { return false }
                return names(in: conditions, owner: owner, locals: locals).contains(name)
            }
            if isChecked { continue }
            return change
        }
        return nil
    }

    /// Whether a call before the await changes the owner's state.
    private func marks(before awaiting: Syntax, from: AbsolutePosition, in body: CodeBlockSyntax, owner: TypeInfo)
        -> Bool
    {
        body.all(FunctionCallExprSyntax.self, skip: isOwnTask).contains { call in
            guard call.position >= from, call.end <= awaiting.start, let name = call.calledName,
                call.base == nil || call.base?.text == "self"
            else { return false }
            return methods(name, of: owner).contains { method in
                guard !method.isAsync, let body = method.body else { return false }
                return Mutation.all(in: Syntax(body), skip: { _ in false }).contains {
                    property($0.root, in: owner, locals: localNames(Syntax(method))) != nil
                }
            }
        }
    }

    /// Whether an await is in a branch that leaves the function, and that a change is not in.
    private func isLeaving(_ node: Syntax, before change: Syntax, body: CodeBlockSyntax) -> Bool {
        for ancestor in node.ancestors {
            if ancestor.id == body.id || ancestor.encloses(change) { return false }
            if ancestor.is(ReturnStmtSyntax.self) { return true }
            if let block = ancestor.as(CodeBlockSyntax.self), block.leaves,
                block.parent?.is(IfExprSyntax.self) == true || block.parent?.is(GuardStmtSyntax.self) == true
            {
                return true
            }
        }
        return false
    }

    /// Whether two places can be on one path: not in two branches of a condition.
    func canPrecede(_ first: Syntax, _ second: Syntax) -> Bool {
        for ancestor in first.ancestors {
            if ancestor.encloses(second) {
                return true
            }
            // Another branch of the same condition, or another case.
            if let condition = ancestor.parent?.as(IfExprSyntax.self), condition.encloses(second) {
                if ancestor.is(CodeBlockSyntax.self) || ancestor.is(IfExprSyntax.self) { return false }
            }
            if ancestor.is(SwitchCaseSyntax.self), let choice = ancestor.parent?.parent, choice.encloses(second) {
                return false
            }
        }
        return true
    }

    /// `if token == used { try await refresh() }`, where `refresh` replaces the token after an await.
    private mutating func checkSharedRefresh(
        _ function: FunctionDeclSyntax,
        _ body: CodeBlockSyntax,
        owner: TypeInfo,
        locals: Set<String>
    ) {
        for condition in body.all(IfExprSyntax.self, skip: isOtherTime) {
            let names = names(in: Syntax(condition.conditions), owner: owner, locals: locals)
            guard !names.isEmpty, condition.body.statements.count == 1,
                let awaiting = condition.body.awaits().first?.as(AwaitExprSyntax.self),
                let call = awaiting.expression.unwrapped.as(FunctionCallExprSyntax.self), let name = call.calledName,
                call.base == nil || call.base?.text == "self"
            else { continue }
            for candidate in implementations(of: owner) {
                for method in candidate.methods[name] ?? [] where method.isAsync && method.root.id == file.tree.root.id
                {
                    guard let inner = method.body else { continue }
                    let innerLocals = localNames(Syntax(method))
                    let changes = Mutation.all(
                        in: Syntax(inner),
                        skip: { isOtherTime($0) || $0.is(ClosureExprSyntax.self) }
                    )
                    guard
                        let change = changes.first(where: {
                            names.contains($0.root.name) && property($0.root, in: candidate, locals: innerLocals) != nil
                        }),
                        let first = inner.awaits().first, first.position < change.node.end,
                        !changes.contains(where: { $0.node.end <= first.start }),
                        checks(in: inner, owner: candidate, locals: innerLocals).isEmpty
                    else { continue }
                    report(
                        .checkThenAwait,
                        .warning,
                        at: change.node,
                        "`\(change.root.name)` of `\(candidate.shortName)` is checked in `\(function.name.text)` and changed here after an `await`: callers that come in between pass the same check"
                    )
                }
            }
        }
    }

    private func implementations(of owner: TypeInfo) -> [TypeInfo] {
        [owner] + index.all(module: file.module).filter { $0.inherits.contains(owner.shortName) }
    }
}
