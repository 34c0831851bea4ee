import SwiftSyntax

/// The work of a task while it retains the owner that it captures.
struct Hold {
    enum Weight: Comparable {
        /// Nothing is awaited while the owner is retained.
        case nothing
        /// One await, and nothing that depends on it.
        case hop
        /// Several awaits, or code of the owner behind an await.
        case work
        /// A loop that ends when a stream does, or never.
        case endless
    }

    var weight = Weight.nothing
    /// How the owner is retained, as part of a sentence.
    var way = ""
}

extension Context {
    /// The owner that code in a task retains, and for how long.
    func hold(of closure: ClosureExprSyntax) -> (owner: TypeInfo, hold: Hold)? {
        guard let owner = type(of: closure), owner.isReference else { return nil }
        let method = Scope(of: closure, skippingClosures: true)
        if method.isStatic { return nil }
        switch method {
        case .deinitializer: return nil
        case .top: guard closure.ancestors.contains(where: { $0.is(VariableDeclSyntax.self) }) else { return nil }
        default: break
        }
        // A function in a function of the type captures the owner too; one of a local type is in the path of the type.
        switch capture(of: closure) {
        case .none: return nil
        case .strong(let alias): return (owner, strongHold(closure, owner: owner, alias: alias))
        case .weak(let alias): return (owner, weakHold(closure, owner: owner, alias: alias))
        }
    }

    private enum Capture {
        case none
        case strong(alias: String)
        case weak(alias: String)
    }

    private func capture(of closure: ClosureExprSyntax) -> Capture {
        for item in closure.signature?.capture?.items ?? [] {
            let value = item.initializer?.value.text
            guard item.name.text == "self" || value == "self" else { continue }
            guard let specifier = item.specifier?.specifier.text else { return .strong(alias: item.name.text) }
            return specifier == "weak" ? .weak(alias: item.name.text) : .none
        }
        // The closures around it, from the inside out.
        var inner = Syntax(closure)
        for ancestor in closure.ancestors {
            if ancestor.is(FunctionDeclSyntax.self) || ancestor.is(InitializerDeclSyntax.self)
                || ancestor.is(AccessorBlockSyntax.self)
            {
                break
            }
            guard let outer = ancestor.as(ClosureExprSyntax.self) else { continue }
            for item in outer.signature?.capture?.items ?? [] where item.name.text == "self" {
                guard let specifier = item.specifier?.specifier.text else { return .strong(alias: "self") }
                guard specifier == "weak" else { return .none }
                let isUnwrapped = outer.hasNode(skip: { $0.is(ClosureExprSyntax.self) && $0.id != inner.id }) { node in
                    guard node.position < inner.position, let binding = node.as(OptionalBindingConditionSyntax.self)
                    else { return false }
                    return binding.pattern.text == "self"
                }
                return isUnwrapped ? .strong(alias: "self") : .weak(alias: "self")
            }
            inner = Syntax(outer)
        }
        return .strong(alias: "self")
    }

    /// Whether code mentions the owner: by `self`, or by the name of a member.
    private func mentions(
        _ node: Syntax,
        owner: TypeInfo,
        alias: String,
        after: AbsolutePosition? = nil,
        locals: Set<String>
    ) -> Bool {
        func isMention(_ node: Syntax) -> Bool {
            guard let reference = node.as(DeclReferenceExprSyntax.self), reference.isFirst else { return false }
            if let after {
                guard reference.position >= after else { return false }
                // A log of the error depends on nothing.
                if let clause = reference.ancestors.first(where: { $0.is(CatchClauseSyntax.self) }),
                    Mutation.all(in: clause, skip: { _ in false }).isEmpty
                {
                    return false
                }
            }
            let name = reference.baseName.text
            if name == alias || (name == "self" && alias == "self") { return true }
            guard alias == "self", !locals.contains(name), name.first?.isLetter == true else { return false }
            return isMember(name, of: owner)
        }
        return isMention(node) || node.hasNode(skip: isTypeDeclaration, where: isMention)
    }

    private func strongHold(_ closure: ClosureExprSyntax, owner: TypeInfo, alias: String) -> Hold {
        let method = Scope(of: closure, skippingClosures: true).node
        var locals = localNames(method ?? Syntax(closure)).union(conditionNames(method ?? Syntax(closure)))
        locals.formUnion(localNames(Syntax(closure)))
        guard mentions(Syntax(closure.statements), owner: owner, alias: alias, locals: locals) else { return Hold() }
        let isExplicit = closure.statements.hasNode { $0.as(DeclReferenceExprSyntax.self)?.baseName.text == alias }
        var hold = weight(of: Syntax(closure.statements), owner: owner, alias: alias, locals: locals)
        hold.way = isExplicit ? "captures `self`" : "captures `self` without writing it"
        return hold
    }

    private func weakHold(_ closure: ClosureExprSyntax, owner: TypeInfo, alias: String) -> Hold {
        let locals = localNames(Syntax(closure))
        var strongest = Hold()
        closure.statements.walk { node in
            if isOwnTask(node) { return false }
            if let binding = node.as(OptionalBindingConditionSyntax.self),
                let region = region(of: binding, alias: alias)
            {
                let name = binding.pattern.text
                // In a loop, the strong reference ends with each turn of the loop.
                let isInLoop = binding.ancestors.prefix { $0.id != closure.id }.contains { isLoop($0) }
                var hold = Hold()
                for part in region {
                    let next = weight(of: part, owner: owner, alias: name, locals: locals)
                    if next.weight > hold.weight { hold = next }
                    if next.weight == .hop, part.position > binding.position, region.count > 1 {
                        hold.weight = max(hold.weight, .hop)
                    }
                }
                if !isInLoop, hold.weight > strongest.weight {
                    strongest = hold
                    strongest.way =
                        "holds `self` strongly from `\(binding.parent?.parent?.parent?.is(GuardStmtSyntax.self) == true ? "guard let" : "let") \(name)` on"
                }
            }
            // `await self?.run()`, which retains the owner while it runs.
            if let call = node.as(FunctionCallExprSyntax.self), let name = call.calledName,
                call.base?.unwrapped.text == alias,
                call.base?.is(OptionalChainingExprSyntax.self) == true
            {
                if isEndless(method: name, of: owner), Hold.Weight.endless > strongest.weight {
                    strongest = Hold(weight: .endless, way: "holds `self` while `\(name)()` runs")
                }
            }
            return true
        }
        return strongest
    }

    /// The statements that an unwrapped `self` is retained in.
    private func region(of binding: OptionalBindingConditionSyntax, alias: String) -> [Syntax]? {
        let value = binding.initializer?.value.text ?? binding.pattern.text
        guard value == alias else { return nil }
        for ancestor in binding.ancestors {
            if let condition = ancestor.as(IfExprSyntax.self) { return [Syntax(condition.body)] }
            if ancestor.is(WhileStmtSyntax.self) { return nil }
            if ancestor.is(GuardStmtSyntax.self) {
                guard let item = ancestor.parent?.as(CodeBlockItemSyntax.self),
                    let list = item.parent?.as(CodeBlockItemListSyntax.self)
                else {
                    return nil
                }
                return list.filter { $0.position > item.position }.map { Syntax($0) }
            }
            if ancestor.is(CodeBlockItemSyntax.self) { return nil }
        }
        return nil
    }

    /// The awaits in code while its owner is retained.
    private func weight(of node: Syntax, owner: TypeInfo, alias: String, locals: Set<String>) -> Hold {
        var hold = Hold()
        if hasEndlessLoop(node) {
            hold.weight = .endless
            return hold
        }
        let awaits = ([node] + node.awaits(skip: isOwnTask)).filter {
            $0.is(AwaitExprSyntax.self) || $0.as(ForStmtSyntax.self)?.awaitKeyword != nil
        }
        for call in node.all(FunctionCallExprSyntax.self, skip: isOwnTask) where isCall(call, on: alias, locals: locals)
        {
            if let name = call.calledName, isEndless(method: name, of: owner) {
                hold.weight = .endless
                return hold
            }
        }
        guard let first = awaits.first else { return hold }
        if awaits.count == 1 {
            hold.weight =
                isUsed(first) || mentions(node, owner: owner, alias: alias, after: first.end, locals: locals)
                ? .work : .hop
            // `Task { await load() }`, and `load` does the work.
            if hold.weight == .hop, let call = calls(in: first).first(where: { isCall($0, on: alias, locals: locals) }),
                let name = call.calledName
            {
                for method in methods(name, of: owner) where owner.kind == .class {
                    guard let body = method.body else { continue }
                    let names = localNames(Syntax(method)).union(conditionNames(Syntax(method)))
                    if let first = body.awaits(skip: isOwnTask).first,
                        isAssignedToMember(first, owner: owner, locals: names)
                            || Mutation.all(in: Syntax(body), skip: isOwnTask).contains(where: {
                                $0.node.position >= first.end && property($0.root, in: owner, locals: names) != nil
                                    && $0.node.ancestors.contains { $0.is(DeferStmtSyntax.self) } == false
                            })
                    {
                        hold.weight = .work
                    }
                }
            }
        } else {
            hold.weight = .work
        }
        return hold
    }

    private func calls(in node: Syntax) -> [FunctionCallExprSyntax] {
        node.all(FunctionCallExprSyntax.self, skip: isOtherTime)
    }

    private func isAssignedToMember(_ awaiting: Syntax, owner: TypeInfo, locals: Set<String>) -> Bool {
        for ancestor in awaiting.ancestors {
            if let mutation = Mutation(ancestor) { return property(mutation.root, in: owner, locals: locals) != nil }
            if ancestor.is(CodeBlockItemSyntax.self) { return false }
        }
        return false
    }

    /// Whether the value that is awaited is used.
    private func isUsed(_ awaiting: Syntax) -> Bool {
        var node = awaiting
        while let parent = node.parent {
            if parent.is(TryExprSyntax.self) || parent.is(TupleExprSyntax.self) { node = parent; continue }
            if parent.is(CodeBlockItemSyntax.self) { return false }
            if parent.is(ReturnStmtSyntax.self) { return false }
            if let list = parent.as(ExprListSyntax.self) {
                return list.first?.is(DiscardAssignmentExprSyntax.self) != true
            }
            return true
        }
        return true
    }

    private func isCall(_ call: FunctionCallExprSyntax, on alias: String, locals: Set<String>) -> Bool {
        if let base = call.base { return base.unwrapped.text == alias }
        guard let name = call.calledName, alias == "self" else { return false }
        return call.calledExpression.is(DeclReferenceExprSyntax.self) && !locals.contains(name)
    }

    /// Whether a method of the owner loops without end, or calls one that does.
    func isEndless(method name: String, of owner: TypeInfo, depth: Int = 0) -> Bool {
        guard depth < 3 else { return false }
        return methods(name, of: owner).contains { method in
            guard method.isAsync, let body = method.body else { return false }
            if hasEndlessLoop(Syntax(body)) { return true }
            return body.all(AwaitExprSyntax.self, skip: isOwnTask).contains { awaiting in
                guard let call = awaiting.expression.unwrapped.as(FunctionCallExprSyntax.self),
                    let next = call.calledName, next != name
                else { return false }
                return isCall(call, on: "self", locals: []) && isEndless(method: next, of: owner, depth: depth + 1)
            }
        }
    }

    func hasEndlessLoop(_ node: Syntax) -> Bool {
        isEndlessLoop(node) || node.hasNode(skip: isOwnTask, where: isEndlessLoop)
    }

    /// Whether a node is `for await` over a stream, or a loop that only a cancellation ends.
    func isEndlessLoop(_ node: Syntax) -> Bool {
        if let loop = node.as(ForStmtSyntax.self) {
            guard loop.awaitKeyword != nil else { return false }
            let sequence = loop.sequence.text.lowercased()
            return !sequence.contains("group") && !sequence.hasPrefix("[")
        }
        if let loop = node.as(WhileStmtSyntax.self) {
            guard
                !loop.body.awaits(skip: isOwnTask).isEmpty
                    || loop.conditions.contains(where: { $0.text.contains("await") })
            else { return false }
            return loop.isUnbounded
        }
        if let loop = node.as(RepeatStmtSyntax.self) {
            return ["true", "!Task.isCancelled"].contains(loop.condition.text)
                && !loop.body.awaits(skip: isOwnTask).isEmpty
        }
        return false
    }
}

func isLoop(_ node: Syntax) -> Bool {
    node.is(ForStmtSyntax.self) || node.is(WhileStmtSyntax.self) || node.is(RepeatStmtSyntax.self)
}

extension WhileStmtSyntax {
    /// Whether only a cancellation, or code in the body, ends the loop.
    var isUnbounded: Bool {
        conditions.allSatisfy { condition in
            let text = condition.condition.text
            return text == "true" || text == "!Task.isCancelled"
        }
    }
}
