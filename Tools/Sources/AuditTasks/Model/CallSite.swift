import SwiftSyntax

/// A place that awaits a call, as far as the syntax tells. Whether it can be cancelled is decided when all files are read.
struct CallSite: Sendable {
    /// The reason why the code at a place can be cancelled, or cannot.
    enum Place: Sendable {
        /// The closure of `.task` or `.refreshable`, or of a task that its function cancels.
        case cancelled
        /// A task in a property of the type that the code is in.
        case stored(property: String)
        /// An asynchronous function, whose callers decide.
        case function(String)
        /// A task whose handle is dropped, or a closure that other code calls.
        case unknown
    }

    let name: String
    /// The object that the method is called on: a name, or nil for the type that the code is in.
    let base: String?
    /// The path of the type that the code is in.
    let owner: String?
    let module: String
    let place: Place

    static func all(in tree: SourceFileSyntax, module: String) -> [CallSite] {
        tree.all(AwaitExprSyntax.self).flatMap { awaiting in
            let calls =
                [awaiting.expression.unwrapped.as(FunctionCallExprSyntax.self)].compactMap { $0 }
                + awaiting.all(FunctionCallExprSyntax.self, skip: { $0.is(ClosureExprSyntax.self) })
            var seen: Set<SyntaxIdentifier> = []
            return calls.compactMap { call -> CallSite? in
                guard seen.insert(call.id).inserted, let name = call.calledName else { return nil }
                var base: String?
                if let expression = call.base, !expression.unwrapped.isSelf {
                    guard let last = expression.lastName ?? expression.root?.name else { return nil }
                    base = last
                }
                return CallSite(
                    name: name,
                    base: base,
                    owner: path(of: awaiting),
                    module: module,
                    place: Place(of: awaiting)
                )
            }
        }
    }

    private static func path(of node: some SyntaxProtocol) -> String? {
        let names = node.ancestors.compactMap { isTypeDeclaration($0) ? TypeCollector.declaration($0)?.0 : nil }
        return names.isEmpty ? nil : names.reversed().joined(separator: ".")
    }
}

extension CallSite.Place {
    private static let modifiers: Set<String> = ["task", "refreshable"]

    init(of node: some SyntaxProtocol) {
        for ancestor in node.ancestors {
            if let closure = ancestor.as(ClosureExprSyntax.self) {
                guard let call = closure.call else { self = .unknown; return }
                if call.isTaskCreation {
                    self = Self.place(ofTask: call)
                    return
                }
                guard let name = call.calledName else { self = .unknown; return }
                if Self.modifiers.contains(name), closure.label == "" || closure.label == "action" {
                    self = .cancelled
                    return
                }
                if closure.runsInPlace || name.hasPrefix("addTask") { continue }
                // A function that awaits its closure is cancelled with its caller.
                let isAwaited = call.ancestors.prefix {
                    !$0.is(ClosureExprSyntax.self) && !$0.is(CodeBlockItemSyntax.self)
                }
                .contains { $0.is(AwaitExprSyntax.self) }
                if isAwaited { continue }
                self = .unknown
                return
            }
            if let function = ancestor.as(FunctionDeclSyntax.self) {
                self = function.isAsync ? .function(function.name.text) : .unknown
                return
            }
            if ancestor.is(InitializerDeclSyntax.self) || ancestor.is(AccessorBlockSyntax.self)
                || isTypeDeclaration(ancestor)
            {
                break
            }
        }
        self = .unknown
    }

    private static func place(ofTask call: FunctionCallExprSyntax) -> Self {
        guard let task = TaskCreation(call) else { return .unknown }
        switch task.fate {
        case .stored(let store): return .stored(property: store.name)
        case .dropped, .discarded: return .unknown
        case .kept:
            // `let task = Task { … }`, which the same function cancels.
            guard let binding = call.parent?.parent?.as(PatternBindingSyntax.self),
                let scope = Scope(of: call, skippingClosures: true).node
            else { return .unknown }
            let isCancelled = scope.all(FunctionCallExprSyntax.self).contains {
                $0.calledName == "cancel" && $0.base?.root?.name == binding.pattern.text
            }
            return isCancelled ? .cancelled : .unknown
        }
    }
}

extension Context {
    /// The caller that can be cancelled while it runs the code at a node, as part of a sentence; nil if none is known.
    func canceller(of node: some SyntaxProtocol) -> String? {
        let place = CallSite.Place(of: node)
        let owner = typePath(of: node)
        var visited: Set<String> = []
        guard case .function(let name) = place else {
            guard isCancelled(place, owner: owner, module: file.module, &visited) else { return nil }
            if case .stored(let property) = place { return "the task in `\(property)`" }
            return "this task"
        }
        return cancellingSite(of: name, owner: owner, module: file.module, &visited).map {
            "`\(name)`, which \(caller($0)) calls"
        }
    }

    private func isCancelled(_ place: CallSite.Place, owner: String?, module: String, _ visited: inout Set<String>)
        -> Bool
    {
        switch place {
        case .unknown: return false
        case .cancelled: return true
        case .stored(let property):
            guard let owner = owner.flatMap({ index.type($0, module: module) }) else { return false }
            let life = lifeOfProperty(property, owner: owner)
            return life.isCancelled || life.isReplaced || life.observesOldValue
                || index.cancelledNames.contains(property)
        case .function(let name):
            return cancellingSite(of: name, owner: owner, module: module, &visited) != nil
        }
    }

    private func cancellingSite(of name: String, owner: String?, module: String, _ visited: inout Set<String>)
        -> CallSite?
    {
        guard visited.count < 60, visited.insert("\(owner ?? "").\(name)").inserted else { return nil }
        return index.callSites[name]?.first {
            calls($0, name, of: owner, module: module)
                && isCancelled($0.place, owner: $0.owner, module: $0.module, &visited)
        }
    }

    private func caller(_ site: CallSite) -> String {
        switch site.place {
        case .cancelled: "a task" + (site.owner.map { " of `\($0)`" } ?? "")
        case .stored(let property): "the task in `\(property)`"
        case .function(let name): "`\(name)`"
        case .unknown: "a task"
        }
    }

    /// Whether a call can be one of a type's function.
    private func calls(_ site: CallSite, _ name: String, of owner: String?, module: String) -> Bool {
        guard let owner else { return site.base == nil }
        let target = index.type(owner, module: module)
        let short = owner.split(separator: ".").last.map(String.init) ?? owner
        func isTarget(_ type: String) -> Bool {
            type == short || type == owner || target?.inherits.contains(type) == true
        }
        guard let base = site.base else {
            guard let caller = site.owner else { return false }
            if caller == owner || isTarget(caller.split(separator: ".").last.map(String.init) ?? caller) { return true }
            return index.type(caller, module: site.module)?.inherits.contains(short) == true
        }
        if isTarget(base) { return true }
        if let caller = site.owner.flatMap({ index.type($0, module: site.module) }),
            let property = index.property(base, of: caller, module: site.module)
        {
            let text = property.type ?? property.initial ?? ""
            let type = TypeIndex.plainName(text)
            if !type.isEmpty, type.first?.isUppercase == true { return isTarget(type) }
        }
        return index.methodCounts[name] == 1
    }
}

extension TypeIndex {
    /// The name of a type without optionals, generics and wrappers: `Model` in `any Model?` and in `Model(api: api)`.
    static func plainName(_ text: String) -> String {
        var text = Substring(text)
        for prefix in ["any ", "some ", "("] where text.hasPrefix(prefix) { text = text.dropFirst(prefix.count) }
        let name = text.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
        return name.split(separator: ".").last { $0 != "shared" && $0 != "init" }.map(String.init) ?? ""
    }
}
