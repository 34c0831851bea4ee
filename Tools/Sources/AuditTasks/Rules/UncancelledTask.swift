import SwiftSyntax

extension Context {
    /// Rule 2: a task that is discarded, replaced without being cancelled, or stored and never cancelled.
    mutating func checkUncancelledTasks() {
        var seen: Set<String> = []
        for task in tasks {
            switch task.fate {
            case .discarded: checkDiscarded(task)
            case .stored(let store):
                guard let owner = type(of: task.call),
                    let property = index.property(store.name, of: owner, module: file.module), !property.isStatic
                else {
                    continue
                }
                guard owner.isReference || property.attributes.contains("State"), !owner.isProcessWide,
                    !isTestCase(owner)
                else { continue }
                let isFirst = seen.insert(owner.name + "." + store.name).inserted
                check(task, store, owner, property, isFirst: isFirst)
            default: continue
            }
        }
    }

    private mutating func checkDiscarded(_ task: TaskCreation) {
        guard !task.closure.statements.awaits(skip: isOwnTask).isEmpty, !file.isTest, !file.isMain else { return }
        let owner = typePath(of: task.call).map { " of `\($0)`" } ?? ""
        guard losesErrors(task) else {
            // Rule 1 says what the task retains.
            if let hold = hold(of: task.closure)?.hold, hold.weight > .nothing { return }
            let isEndless = hasEndlessLoop(Syntax(task.closure.statements))
            report(
                .uncancelledTask,
                isEndless ? .warning : .note,
                at: task.call,
                "`_ =` discards the only handle of this task\(owner): nothing can cancel it\(isEndless ? ", and its loop goes on" : " or await its end")"
            )
            return
        }
        report(
            .uncancelledTask,
            mustEnd(task) && task.closure.statements.count == 1 ? .note : .warning,
            at: task.call,
            "`_ =` discards the only handle of this task\(owner): nothing can cancel it, and the error that it throws is lost"
        )
    }

    /// Whether a task can throw an error that no code receives.
    func losesErrors(_ task: TaskCreation) -> Bool {
        guard !task.call.calledExpression.text.contains("Never") else { return false }
        return task.closure.statements.hasNode(skip: isOwnTask) { node in
            if node.is(ThrowStmtSyntax.self) { return !isCaught(node, in: task.closure) }
            guard let attempt = node.as(TryExprSyntax.self), attempt.questionOrExclamationMark == nil else {
                return false
            }
            return !isCaught(node, in: task.closure)
        }
    }

    /// Whether an error that a node throws reaches a `catch` in a closure.
    func isCaught(_ node: Syntax, in closure: ClosureExprSyntax) -> Bool {
        var inner = node
        for ancestor in node.ancestors {
            if ancestor.id == closure.id { return false }
            if let attempt = ancestor.as(DoStmtSyntax.self), attempt.body.id == inner.id, attempt.generalCatch != nil {
                return true
            }
            inner = ancestor
        }
        return false
    }

    private mutating func check(
        _ task: TaskCreation,
        _ store: TaskCreation.Store,
        _ owner: TypeInfo,
        _ property: TypeInfo.Property,
        isFirst: Bool
    ) {
        guard !task.closure.statements.awaits(skip: isOwnTask).isEmpty else { return }
        // A wrapper of the project's own, such as `@CancellableTask`, may cancel what it is assigned.
        let known: Set<String> = ["State", "ObservationIgnored", "Published", "MainActor", "StateObject", "available"]
        guard known.isSuperset(of: property.attributes) else { return }
        let life = lifeOfProperty(store.name, owner: owner)
        if life.escapes { return }
        let isReplaced =
            !task.isWrapped && !isBrief(task) && replacesWithoutCancelling(task, store, owner) && !life.observesOldValue
        let weight = hold(of: task.closure)?.hold.weight ?? .nothing
        let isNeverCancelled =
            !task.isWrapped && isFirst && !life.isCancelled && !life.isAwaited && !isCancelledElsewhere(store.name)
            && !(isCommitted(task) && weight < .endless)
        let sleeps =
            weight == .work
            && task.closure.statements.all(FunctionCallExprSyntax.self, skip: isOwnTask).contains(where: \.isSleep)
        let isUnreachable =
            isFirst && (life.isCancelledInDeinitOnly || sleeps && life.isCancelledByNamesake)
            && (weight == .endless || sleeps) && !life.isAwaited
        let endsStream = isFirst && life.isReplaced ? sharedStream(of: task, owner) : nil
        if let endsStream, !isReplaced, !isNeverCancelled, !isUnreachable {
            report(
                .uncancelledTask,
                .warning,
                at: task.call,
                "the task in `\(store.name)` is cancelled while it reads the stored stream `\(endsStream)`: that ends the stream, and the next loop over it receives nothing"
            )
            return
        }
        guard isReplaced || isNeverCancelled || isUnreachable else { return }

        var fix: [Edit] = []
        if isReplaced, property.type?.contains("Task<") == true,
            property.isOptional
                || (store.key != nil && property.type?.contains(": Task<") == true
                    && property.type?.hasSuffix(">]") == true),
            let item = store.node.parent?.as(CodeBlockItemSyntax.self)
        {
            fix.append(Edit(insert: "\(store.target)?.cancel()\n\(indentation(of: item))", at: item.start.utf8Offset))
        }
        // A task that retains the object keeps `deinit` from running.
        if isNeverCancelled, store.key == nil, owner.isReference, weight == .nothing,
            let edit = deinitEdit(store.name, owner: owner, property)
        {
            if !isReplaced || !fix.isEmpty { fix.append(edit) }
        } else if isNeverCancelled {
            fix = []
        }
        let kind = owner.kind == .actor ? "actor" : owner.kind == .class ? "class" : "view"
        let what = "the task in `\(store.name)`"
        let name = "the \(kind) `\(owner.shortName)`"
        if isUnreachable, !isReplaced {
            report(
                .uncancelledTask,
                sleeps ? .warning : .error,
                at: task.call,
                "\(what) is cancelled in `deinit` only, and \(sleeps ? "while it sleeps it" : "its loop") retains \(name): `deinit` \(sleeps ? "does not run before the task ends" : "never runs")"
            )
        } else if isReplaced, isNeverCancelled {
            report(
                .uncancelledTask,
                .warning,
                at: task.call,
                "\(what) replaces the previous one without cancelling it, and \(name) never cancels it",
                fix: fix
            )
        } else if isReplaced {
            report(
                .uncancelledTask,
                .warning,
                at: task.call,
                "\(what) of \(name) replaces the previous one, which goes on: nothing cancels it",
                fix: fix
            )
        } else {
            let end = kind == "view" ? "when it disappears" : "in `deinit` or elsewhere"
            report(
                .uncancelledTask,
                weight == .endless ? .error : .warning,
                at: task.call,
                "\(what) is stored, but \(name) does not cancel it \(end)",
                fix: fix
            )
        }
    }

    /// Whether a task calls one function that a user has asked for, which must end although it is asked for again.
    private func isBrief(_ task: TaskCreation) -> Bool {
        mustEnd(task) && task.closure.statements.count == 1 && !hasEndlessLoop(Syntax(task.closure.statements))
            && (hold(of: task.closure)?.hold.weight ?? .nothing) < .endless
    }

    private static let committing = [
        "save", "write", "persist", "purchase", "buy", "restore", "submit", "upload", "send", "post", "delete", "log",
        "track", "report", "flush", "store", "remove", "import", "export",
    ]

    /// Whether the work must not be cancelled in the middle, as that of a purchase.
    private func isCommitted(_ task: TaskCreation) -> Bool {
        let calls = task.closure.statements.awaits(skip: isOwnTask).compactMap {
            $0.as(AwaitExprSyntax.self)?.expression.unwrapped.as(FunctionCallExprSyntax.self)?.calledName
        }
        return !calls.isEmpty && calls.allSatisfy { name in Self.committing.contains { name.beginsWithWord($0) } }
    }

    /// The stored stream that a task reads, if its function can be called again after the task was cancelled.
    private func sharedStream(of task: TaskCreation, _ owner: TypeInfo) -> String? {
        let scope = Scope(of: task.call, skippingClosures: true)
        guard case .function = scope, !Self.calledOnce.contains(scope.name) else { return nil }
        let loops = task.closure.statements.all(ForStmtSyntax.self, skip: isOwnTask).filter { $0.awaitKeyword != nil }
        for loop in loops {
            guard let root = loop.sequence.root, root.isWhole else { continue }
            // `[updates = self.updates]`
            let captured = task.closure.signature?.capture?.items.first { $0.name.text == root.name }?.initializer?
                .value.root?.name
            guard let property = index.property(captured ?? root.name, of: owner, module: file.module),
                !property.isStatic, property.isConstant || property.getter.map({ !$0.contains("(") }) ?? false,
                (property.type ?? property.initial ?? "").contains("AsyncStream<")
                    || (property.type ?? property.initial ?? "").contains("AsyncThrowingStream<")
            else { continue }
            return root.name
        }
        return nil
    }

    private func isCancelledElsewhere(_ name: String) -> Bool { index.cancelledNames.contains(name) }

    // MARK: Replacement

    private static let calledOnce: Set<String> = [
        "init", "viewDidLoad", "awakeFromNib", "loadView", "application", "applicationDidFinishLaunching", "setUp",
        "setUpWithError", "makeUIView",
    ]

    private func replacesWithoutCancelling(_ task: TaskCreation, _ store: TaskCreation.Store, _ owner: TypeInfo) -> Bool
    {
        guard store.key != "+", store.node.is(SequenceExprSyntax.self) else { return false }
        let scope = Scope(of: task.call, skippingClosures: true)
        guard let body = scope.node, !Self.calledOnce.contains(scope.name) else { return false }
        if let key = store.key, isFresh(key, in: body) { return false }
        // Whatever is done with the property before the new task is stored: a check, a cancellation, or a wait for the old one.
        let isHandled = body.hasNode { node in
            guard node.position < store.node.position || task.closure.encloses(node) else { return false }
            if let reference = node.as(DeclReferenceExprSyntax.self), reference.baseName.text == store.name {
                return !store.node.encloses(reference)
                    || task.closure.encloses(reference) && reference.position < task.closure.statements.position
            }
            if let call = node.as(FunctionCallExprSyntax.self), node.position < store.node.position,
                let name = call.calledName,
                call.base == nil || call.base?.text == "self", call.calledExpression.text != "Task"
            {
                return methods(name, of: owner).contains { method in
                    method.body.map {
                        cancels(store.name, in: Syntax($0)) || clears(store.name, in: Syntax($0), of: owner)
                            || awaitsValue(of: store.name, in: Syntax($0))
                    } ?? false
                }
            }
            return false
        }
        if isHandled || callersCancel(store.name, scope, owner) { return false }
        // `guard !isRunning`, and `isRunning` asks the property.
        let asksProperty = body.all(ConditionElementListSyntax.self).contains { list in
            list.position < store.node.position
                && list.all(DeclReferenceExprSyntax.self).contains {
                    index.property($0.baseName.text, of: owner, module: file.module)?.getter?.contains(store.name)
                        ?? false
                }
        }
        if asksProperty { return false }
        return !hasFlag(before: store.node, in: body, owner: owner)
    }

    /// Whether each function of the type that calls a private function cancels the task before.
    private func callersCancel(_ property: String, _ scope: Scope, _ owner: TypeInfo) -> Bool {
        guard case .function(let function) = scope,
            function.modifiers.contains(where: { ["private", "fileprivate"].contains($0.name.text) })
        else { return false }
        let callers = owner.methods.values.joined().filter { method in
            method.id != function.id
                && method.hasNode { $0.as(FunctionCallExprSyntax.self)?.calledName == function.name.text }
        }
        return !callers.isEmpty && callers.allSatisfy { $0.body.map { cancels(property, in: Syntax($0)) } ?? false }
    }

    private func isFresh(_ key: String, in body: Syntax) -> Bool {
        body.hasNode { node in
            guard let binding = node.as(PatternBindingSyntax.self), binding.pattern.text == key else { return false }
            return true
        } || key.contains("UUID()") || key.contains("next") || key.contains("count")
    }

    private func clears(_ property: String, in body: Syntax, of owner: TypeInfo) -> Bool {
        body.all(FunctionCallExprSyntax.self).contains { call in
            guard let name = call.calledName, call.base == nil || call.base?.text == "self" else { return false }
            return methods(name, of: owner).contains { $0.body.map { cancels(property, in: Syntax($0)) } ?? false }
        }
    }

    /// Whether code returns early because of a flag, and sets that flag.
    func hasFlag(before node: Syntax, in body: Syntax, owner: TypeInfo) -> Bool {
        let conditions = body.all(ConditionElementListSyntax.self).filter { $0.position < node.position }
        let changes = Mutation.all(in: body, skip: { _ in false }).map(\.root.name)
        return conditions.contains { list in
            list.all(DeclReferenceExprSyntax.self).contains {
                changes.contains($0.baseName.text) && isMember($0.baseName.text, of: owner)
            }
        }
    }

    // MARK: The life of a property

    struct PropertyLife {
        var isCancelled = false
        var isCancelledInDeinitOnly = false
        /// Whether any code cancels it, if only to make room for the next task.
        var isReplaced = false
        /// Whether a method that does nothing else cancels it, besides `deinit`.
        var isCancelledByNamesake = false
        var isAwaited = false
        var escapes = false
        var observesOldValue = false
    }

    /// Whether code cancels what a property holds.
    func cancels(_ property: String, in body: Syntax) -> Bool {
        guard
            body.hasNode(where: {
                $0.as(DeclReferenceExprSyntax.self)?.baseName.text == property
                    || $0.as(OptionalBindingConditionSyntax.self)?.pattern.text == property
            })
        else { return false }
        return body.all(DeclReferenceExprSyntax.self).contains { reference in
            guard ["cancel", "cancelAll"].contains(reference.baseName.text),
                let member = reference.parent?.as(MemberAccessExprSyntax.self)
            else { return false }
            guard let root = member.base?.root else { return true }
            if root.name == property { return true }
            guard !root.viaSelf else { return false }
            // A name for what the property holds: `for task in tasks`, `if let running = task`, `$0`.
            return isAlias(root.name, of: property, in: body)
        }
    }

    private func isAlias(_ name: String, of property: String, in body: Syntax) -> Bool {
        func mentions(_ node: some SyntaxProtocol) -> Bool {
            node.as(DeclReferenceExprSyntax.self)?.baseName.text == property
                || node.hasNode { $0.as(DeclReferenceExprSyntax.self)?.baseName.text == property }
        }
        func declares(_ node: some SyntaxProtocol) -> Bool {
            node.as(IdentifierPatternSyntax.self)?.identifier.text == name
                || node.hasNode { $0.as(IdentifierPatternSyntax.self)?.identifier.text == name }
        }
        return body.hasNode { node in
            if let loop = node.as(ForStmtSyntax.self) { return declares(loop.pattern) && mentions(loop.sequence) }
            if let binding = node.as(OptionalBindingConditionSyntax.self), let value = binding.initializer {
                return declares(binding.pattern) && mentions(value)
            }
            if let binding = node.as(PatternBindingSyntax.self), let value = binding.initializer {
                return declares(binding.pattern) && mentions(value)
            }
            if let label = node.as(SwitchCaseLabelSyntax.self) { return declares(label) }
            if let closure = node.as(ClosureExprSyntax.self), let call = closure.call, mentions(call.calledExpression) {
                return name.hasPrefix("$") || closure.parameterNames.contains(name)
            }
            return false
        }
    }

    func lifeOfProperty(_ name: String, owner: TypeInfo) -> PropertyLife {
        var life = PropertyLife()
        var inDeinit = false
        var elsewhere = false
        var onlyNamesakes = true
        for block in owner.blocks {
            for item in block.members {
                let body = Syntax(item)
                if let variable = item.decl.as(VariableDeclSyntax.self),
                    variable.bindings.contains(where: { $0.pattern.text == name }),
                    let accessors = variable.bindings.first?.accessorBlock
                {
                    if accessors.text.contains("oldValue"), accessors.text.contains("cancel") {
                        life.observesOldValue = true
                    }
                    continue
                }
                if isTypeDeclaration(Syntax(item.decl)) { continue }
                guard
                    body.hasNode(where: {
                        $0.as(DeclReferenceExprSyntax.self)?.baseName.text == name
                            || $0.as(OptionalBindingConditionSyntax.self)?.pattern.text == name
                    })
                else { continue }
                if awaitsValue(of: name, in: body), !isForTests(item) { life.isAwaited = true }
                if escapes(name, in: body) { life.escapes = true }
                guard cancels(name, in: body) else { continue }
                life.isReplaced = true
                if item.decl.is(DeinitializerDeclSyntax.self) {
                    inDeinit = true
                } else if !isReplacement(name, in: body) {
                    elsewhere = true
                    let function = item.decl.as(FunctionDeclSyntax.self)
                    if function?.name.text != "cancel" || function?.body?.statements.count != 1 {
                        onlyNamesakes = false
                    }
                }
            }
        }
        // `deinit` that calls a method which cancels: then that method is in `elsewhere`.
        life.isCancelled = inDeinit || elsewhere
        life.isCancelledByNamesake = inDeinit && onlyNamesakes
        life.isCancelledInDeinitOnly = inDeinit && !elsewhere
        return life
    }

    /// Whether a cancellation only makes room for the next task.
    private func isReplacement(_ property: String, in body: Syntax) -> Bool {
        let stores = Mutation.all(in: body, skip: { _ in false }).filter {
            $0.root.name == property && $0.isAssignment && !$0.isReset
        }
        guard !stores.isEmpty else { return false }
        let cancellations = body.all(DeclReferenceExprSyntax.self).filter { $0.baseName.text == "cancel" }
        return cancellations.allSatisfy { cancellation in
            // A cancellation in another closure, such as that of `onDisappear`, is not part of the replacement.
            let place = Scope(of: cancellation).node?.id
            return stores.contains { store in
                store.node.position > cancellation.position
                    && (Scope(of: store.node).node?.id == place
                        || Scope(of: cancellation).node.map {
                            $0.position < store.node.position && $0.endPosition < store.node.position
                        } == true)
            }
        }
    }

    /// Whether a member exists in builds for tests only: `#if DEBUG`, or a function that waits and does nothing else.
    private func isForTests(_ item: MemberBlockItemSyntax) -> Bool {
        if item.decl.is(IfConfigDeclSyntax.self) { return true }
        guard let function = item.decl.as(FunctionDeclSyntax.self) else { return false }
        return function.name.text.containsAny(["fortest", "waitfor"])
            && (function.body.map { $0.statements.count == 1 } ?? false)
    }

    private func awaitsValue(of property: String, in body: Syntax) -> Bool {
        body.all(MemberAccessExprSyntax.self).contains { member in
            guard ["value", "result"].contains(member.declName.baseName.text),
                member.ancestors.contains(where: { $0.is(AwaitExprSyntax.self) }),
                let root = member.base?.root
            else { return false }
            return root.name == property || isAlias(root.name, of: property, in: body)
                || Mutation.all(in: body, skip: { _ in false }).contains {
                    $0.root.name == property && $0.values.first?.text == root.name
                }
        }
    }

    /// Whether the property's task is returned, or passed to a function.
    private func escapes(_ property: String, in body: Syntax) -> Bool {
        body.all(DeclReferenceExprSyntax.self).contains { reference in
            guard reference.baseName.text == property else { return false }
            var node = Syntax(reference)
            if let member = node.parent?.as(MemberAccessExprSyntax.self) {
                guard member.base?.text == "self", member.declName.id == reference.id else { return false }
                node = Syntax(member)
            }
            guard let parent = node.parent else { return false }
            if parent.is(ReturnStmtSyntax.self) { return true }
            guard let argument = parent.as(LabeledExprSyntax.self) else { return false }
            return argument.parent?.parent?.is(FunctionCallExprSyntax.self) ?? false
        }
    }

    // MARK: Edits

    func indentation(of node: some SyntaxProtocol) -> String {
        var text = ""
        for piece in node.leadingTrivia.reversed() {
            switch piece {
            case .spaces(let count): text = String(repeating: " ", count: count) + text
            case .tabs(let count): text = String(repeating: "\t", count: count) + text
            default: return text
            }
        }
        return text
    }

    private func deinitEdit(_ name: String, owner: TypeInfo, _ property: TypeInfo.Property) -> Edit? {
        guard !property.isComputed, property.isOptional || property.type?.hasPrefix("Task<") == true,
            property.type?.contains("Task<") == true, owner.properties[name] != nil
        else { return nil }
        // A macro or a wrapper makes the property computed, which an object that goes cannot ask for.
        guard property.attributes.isEmpty,
            owner.attributes.isSubset(of: ["MainActor", "objc", "objcMembers", "available"])
        else { return nil }
        let call = "\(name)\(property.isOptional ? "?" : "").cancel()"
        for block in owner.blocks where block.root.id == file.tree.root.id {
            guard let parent = block.parent, parent.is(ClassDeclSyntax.self) || parent.is(ActorDeclSyntax.self) else {
                continue
            }
            // The property of this very declaration, and not of one with the same name.
            guard
                block.members.contains(where: {
                    $0.decl.as(VariableDeclSyntax.self)?.bindings.contains { $0.pattern.text == name } == true
                })
            else { continue }
            let inner = block.members.first.map { indentation(of: $0) } ?? "    "
            if let end = owner.deinits.first, let body = end.body {
                guard end.root.id == file.tree.root.id else { return nil }
                return Edit(
                    insert: "\n\(inner)    \(call)",
                    at: body.leftBrace.endPositionBeforeTrailingTrivia.utf8Offset
                )
            }
            guard owner.deinits.isEmpty else { return nil }
            let brace = block.rightBrace
            let close = brace.leadingTrivia.contains { if case .newlines = $0 { true } else { false } } ? "" : "\n"
            return Edit(
                insert: "\(close)\n\(inner)deinit {\n\(inner)    \(call)\n\(inner)}",
                at: block.members.last?.endPositionBeforeTrailingTrivia.utf8Offset ?? brace.position.utf8Offset
            )
        }
        return nil
    }
}
