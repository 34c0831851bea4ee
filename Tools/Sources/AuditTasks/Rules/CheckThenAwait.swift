import SwiftSyntax

extension Context {
    /// Rule 5: an actor's state is checked, and changed after an `await`, during which another caller makes the same check.
    mutating func checkChecksBeforeAwaits() {
        for task in tasks { checkStoreAfterRemoval(task) }
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
            checkFailedState(function, body, owner: owner, locals: locals, &seen)
            checkStaleEntry(function, body, owner: owner, locals: locals, &seen)
            checkReset(function, body, owner: owner, locals: locals, &seen)
        }
    }

    private static let endingWords = [
        "stop", "cancel", "disconnect", "reset", "close", "clear", "invalidate", "logout", "signout", "teardown",
        "shutdown", "end",
        "leave", "detach",
    ]

    /// The synchronous function that ends what another function has begun, and that changes a property for it.
    private func ending(of name: String, owner: TypeInfo, besides function: FunctionDeclSyntax) -> String? {
        for (title, methods) in owner.methods.sorted(by: { $0.key < $1.key }) {
            guard Self.endingWords.contains(where: { title.lowercased().hasPrefix($0) }) else { continue }
            for method in methods where method.id != function.id && !method.isAsync && !method.isStatic {
                guard let body = method.body else { continue }
                let locals = localNames(Syntax(method))
                if settings(in: Syntax(body), owner: owner, locals: locals).contains(where: { $0.name == name }) {
                    return title
                }
            }
        }
        return nil
    }

    /// The property that a method of one parameter sets: `updateState(.connected)` sets `state`.
    private func propertySet(by call: FunctionCallExprSyntax, owner: TypeInfo) -> String? {
        guard let name = call.calledName, call.arguments.count == 1, call.base == nil || call.base?.isSelf == true
        else { return nil }
        for method in methods(name, of: owner) where !method.isAsync {
            guard let parameter = method.parameterNames.first, let body = method.body, body.statements.count <= 4 else {
                continue
            }
            let locals = localNames(Syntax(method))
            for change in Mutation.all(in: Syntax(body), skip: isOwnTask)
            where change.isAssignment && change.root.isWhole {
                if change.values.first?.text == parameter, let set = property(change.root, in: owner, locals: locals) {
                    return set
                }
            }
        }
        return nil
    }

    /// The assignments of properties below a node, also those by a method that does nothing else.
    private func settings(in node: Syntax, owner: TypeInfo, locals: Set<String>) -> [(name: String, node: Syntax)] {
        Mutation.all(in: node, skip: isOtherTime).filter {
            $0.isAssignment && $0.root.isWhole && property($0.root, in: owner, locals: locals) != nil
        }.map { ($0.root.name, $0.node) }
            + node.all(FunctionCallExprSyntax.self, skip: isOtherTime).compactMap { call in
                propertySet(by: call, owner: owner).map { ($0, Syntax(call)) }
            }
    }

    /// A flag that a loop has set while it runs, and that another function resets: a second loop starts beside the first.
    private mutating func checkReset(
        _ function: FunctionDeclSyntax,
        _ body: CodeBlockSyntax,
        owner: TypeInfo,
        locals: Set<String>,
        _ seen: inout Set<String>
    ) {
        guard
            let loop = body.statements.first(where: {
                isLoop(Syntax($0.item))
                    || $0.item.as(ExpressionStmtSyntax.self) == nil && $0.hasNode(skip: isOwnTask) { isLoop($0) }
            }),
            !loop.awaits().isEmpty
        else { return }
        for check in body.statements.compactMap({ $0.item.as(GuardStmtSyntax.self) })
        where check.position < loop.position {
            for name in names(in: Syntax(check.conditions), owner: owner, locals: locals).sorted()
            where !seen.contains(name) {
                guard
                    settings(in: Syntax(body), owner: owner, locals: locals).contains(where: {
                        $0.name == name && $0.node.position < loop.position && $0.node.text.hasSuffix("= true")
                    })
                else { continue }
                for (title, methods) in owner.methods.sorted(by: { $0.key < $1.key }) {
                    guard
                        ["cancel", "stop", "reset", "clear", "end"].contains(where: { title.lowercased().hasPrefix($0) }
                        )
                    else { continue }
                    for method in methods
                    where method.id != function.id && !method.isAsync && method.root.id == file.tree.root.id {
                        guard let inner = method.body,
                            let reset = settings(in: Syntax(inner), owner: owner, locals: localNames(Syntax(method)))
                                .first(where: {
                                    $0.name == name && $0.node.text.hasSuffix("= false")
                                }),
                            !body.checksCancellation(), !body.text.contains(title + "(")
                        else { continue }
                        seen.insert(name)
                        report(
                            .checkThenAwait,
                            .warning,
                            at: reset.node,
                            "`\(title)` resets `\(name)` while the loop of `\(function.name.text)` that has set it may still run: a second loop starts beside it"
                        )
                        return
                    }
                }
            }
        }
    }

    private static let storing: Set<String> = ["store", "save", "set", "write", "update"]
    private static let deleting: Set<String> = ["delete", "remove", "clear", "reset", "removeAll", "erase"]

    /// A result that a method stores behind an `await`, though another method may have deleted what it belongs to.
    private mutating func checkStoreAfterRemoval(_ task: TaskCreation) {
        guard let owner = type(of: task.call), owner.kind == .actor || index.isIsolated(owner, module: file.module)
        else { return }
        let body = Syntax(task.closure.statements)
        let results = awaitedNames(in: body)
        guard !results.isEmpty else { return }
        /// The member that a method of one statement calls, and what it calls.
        func forwarded(_ method: FunctionDeclSyntax, _ verbs: Set<String>) -> String? {
            guard !method.isAsync, let body = method.body, body.statements.count == 1,
                let call = body.statements.first?.item.as(ExprSyntax.self)?.unwrapped.as(FunctionCallExprSyntax.self),
                let name = call.calledName, verbs.contains(name)
            else { return nil }
            return call.base?.root?.name
        }
        for call in body.all(FunctionCallExprSyntax.self, skip: isOwnTask) {
            guard let name = call.calledName, call.base == nil || call.base?.isSelf == true,
                call.arguments.contains(where: { argument in results.contains(argument.expression.text) }),
                let member = methods(name, of: owner).compactMap({ forwarded($0, Self.storing) }).first,
                let remover = owner.methods.sorted(by: { $0.key < $1.key }).first(where: { _, methods in
                    methods.contains { forwarded($0, Self.deleting) == member }
                }),
                !body.hasNode(where: {
                    $0.is(ConditionElementListSyntax.self) && $0.position < call.position
                        || $0.as(DeclReferenceExprSyntax.self)?.baseName.text == "checkCancellation"
                })
            else { continue }
            report(
                .checkThenAwait,
                .warning,
                at: call,
                "`\(name)` stores in `\(member)` what was asked for before an `await`: after `\(remover.key)` in between, it comes back"
            )
            return
        }
    }

    /// A `catch` that sets a state behind an `await`, though another function may have ended what failed.
    private mutating func checkFailedState(
        _ function: FunctionDeclSyntax,
        _ body: CodeBlockSyntax,
        owner: TypeInfo,
        locals: Set<String>,
        _ seen: inout Set<String>
    ) {
        for attempt in body.all(DoStmtSyntax.self, skip: isOtherTime) {
            guard !attempt.body.awaits().isEmpty else { continue }
            for clause in attempt.catchClauses {
                for change in settings(in: Syntax(clause.body), owner: owner, locals: locals)
                where !seen.contains(change.name) {
                    let name = change.name
                    guard
                        ["state", "status", "phase"].contains(where: { name.lowercased().hasSuffix($0) }),
                        let ending = ending(of: name, owner: owner, besides: function),
                        // An attempt sets the state before it awaits.
                        settings(in: Syntax(body), owner: owner, locals: locals).contains(where: {
                            $0.name == name && $0.node.position < attempt.body.awaits()[0].position
                        }),
                        !isComparedBefore(change.node, in: Syntax(clause.body)), !clause.text.containsAny(["cancel"])
                    else { continue }
                    seen.insert(name)
                    report(
                        .checkThenAwait,
                        .warning,
                        at: change.node,
                        "`\(name)` is set after an `await` that has failed, without a look at whether it is still the same attempt: `\(ending)` can have changed it in between"
                    )
                }
            }
        }
    }

    private func isComparedBefore(_ node: Syntax, in body: Syntax) -> Bool {
        body.hasNode { other in
            if let condition = other.as(IfExprSyntax.self) { return condition.position < node.position }
            if let condition = other.as(GuardStmtSyntax.self) { return condition.position < node.position }
            return other.as(SwitchExprSyntax.self).map { $0.position < node.position } ?? false
        }
    }

    /// An entry that is read before an `await` and stored after it, though another function may have removed it.
    private mutating func checkStaleEntry(
        _ function: FunctionDeclSyntax,
        _ body: CodeBlockSyntax,
        owner: TypeInfo,
        locals: Set<String>,
        _ seen: inout Set<String>
    ) {
        let awaits = body.awaits()
        guard let first = awaits.first else { return }
        for change in Mutation.all(in: Syntax(body), skip: isOtherTime)
        where change.isAssignment && !seen.contains(change.root.name) {
            let name = change.root.name
            guard let target = change.target.unwrapped.as(SubscriptCallExprSyntax.self),
                change.node.position > first.position || change.awaits,
                property(change.root, in: owner, locals: locals) != nil, !change.isReset
            else { continue }
            // The entry was there before the await.
            let key = target.arguments.text
            let isRead = body.hasNode { node in
                guard node.position < first.position || node.encloses(first), node.id != change.node.id,
                    let read = node.as(SubscriptCallExprSyntax.self), read.id != target.id,
                    read.position < first.position
                else { return false }
                return read.calledExpression.text == target.calledExpression.text && read.arguments.text == key
                    && read.ancestors.contains {
                        $0.is(ConditionElementListSyntax.self) && $0.parent?.is(GuardStmtSyntax.self) == true
                    }
            }
            guard isRead, let last = awaits.last(where: { $0.position < change.node.end }) else { continue }
            let isCheckedAgain = body.hasNode { node in
                guard node.position > last.position, node.position < change.node.position,
                    let list = node.as(ConditionElementListSyntax.self)
                else { return false }
                return mentions(name, in: Syntax(list)) || list.checksCancellation()
            }
            let remover = owner.methods.sorted { $0.key < $1.key }.first { _, methods in
                methods.contains { method in
                    method.id != function.id
                        && method.body.map {
                            Mutation.all(in: Syntax($0), skip: { _ in false }).contains {
                                $0.root.name == name && $0.isReset && $0.method != "popLast"
                            }
                        } ?? false
                }
            }
            guard !isCheckedAgain, let remover else { continue }
            seen.insert(name)
            report(
                .checkThenAwait,
                .warning,
                at: change.node,
                "the entry of `\(name)` is looked up before an `await` and stored after it: if `\(remover.key)` removes it in between, it comes back"
            )
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
                if isIdentity(reference) {
                    return
                } else if reference.isFirst {
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

    /// Whether only the identifier of a value is read, such as that of `user` in `guard let id = user.id`.
    private func isIdentity(_ reference: DeclReferenceExprSyntax) -> Bool {
        var node = Syntax(reference)
        if let member = node.parent?.as(MemberAccessExprSyntax.self), member.declName.id == reference.id {
            node = Syntax(member)
        }
        if let chain = node.parent?.as(OptionalChainingExprSyntax.self) { node = Syntax(chain) }
        guard let member = node.parent?.as(MemberAccessExprSyntax.self), member.base?.id == ExprSyntax(node)?.id else {
            return false
        }
        let name = member.declName.baseName.text.lowercased()
        return name == "id" || name == "identifier" || name == "uuid" || name.hasSuffix("id")
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
            guard !change.isReset, !(change.isAssignment && change.values.first?.text == "false") else { continue }
            // The check was about another part of the same value.
            if let part = part(of: change.target), !readsPart(part, of: name, check, in: body) { continue }
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
                if names(in: conditions, owner: owner, locals: locals).contains(name) { return true }
                // A look at another property, which says whether the change is still wanted.
                return node.is(GuardStmtSyntax.self) && !names(in: conditions, owner: owner, locals: locals).isEmpty
            }
            if isChecked { continue }
            return change
        }
        return nil
    }

    /// The part of a property that an assignment changes: `policy` in `user.policy = …`.
    private func part(of target: ExprSyntax) -> String? {
        guard let member = target.unwrapped.as(MemberAccessExprSyntax.self), let base = member.base?.unwrapped,
            !base.isSelf,
            base.is(DeclReferenceExprSyntax.self) || base.as(MemberAccessExprSyntax.self)?.base?.isSelf == true
        else { return nil }
        return member.declName.baseName.text
    }

    /// Whether a condition of a check reads the whole property, or that part of it.
    private func readsPart(_ part: String, of name: String, _ check: Check, in body: CodeBlockSyntax) -> Bool {
        body.all(ConditionElementListSyntax.self).filter { $0.position <= check.from }.contains { list in
            list.all(DeclReferenceExprSyntax.self).contains { reference in
                guard reference.baseName.text == name else { return false }
                var node = Syntax(reference)
                if let member = node.parent?.as(MemberAccessExprSyntax.self), member.declName.id == reference.id {
                    node = Syntax(member)
                }
                guard let member = node.parent?.as(MemberAccessExprSyntax.self), member.declName.id != reference.id
                else { return true }
                return member.declName.baseName.text == part
            }
        }
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
            // The `catch` of a `do` that a task is created at the end of.
            if ancestor.is(CatchClauseSyntax.self) || ancestor.is(CodeBlockSyntax.self),
                let attempt = ancestor.parent?.as(DoStmtSyntax.self) ?? ancestor.parent?.parent?.as(DoStmtSyntax.self),
                attempt.encloses(second), !ancestor.encloses(second),
                ancestor.as(CodeBlockSyntax.self)?.statements.last?.encloses(first) == true
            {
                return false
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
