import SwiftSyntax

/// The answers to the questions of the rules about a file.
struct Context {
    let file: SourceFile
    let index: TypeIndex
    let tasks: [TaskCreation]
    let calls: [FunctionCallExprSyntax]
    let functions: [FunctionDeclSyntax]
    private(set) var findings: [Finding] = []

    init(_ file: SourceFile, index: TypeIndex) {
        self.file = file
        self.index = index
        var calls: [FunctionCallExprSyntax] = []
        var functions: [FunctionDeclSyntax] = []
        file.tree.walk { node in
            if let call = node.as(FunctionCallExprSyntax.self) { calls.append(call) }
            if let function = node.as(FunctionDeclSyntax.self) { functions.append(function) }
            return true
        }
        self.calls = calls
        self.functions = functions
        tasks = calls.filter(\.isTaskCreation).compactMap { TaskCreation($0) }
    }

    mutating func report(
        _ rule: Rule,
        _ severity: Severity,
        at node: some SyntaxProtocol,
        _ message: String,
        fix: [Edit] = []
    ) {
        let (line, column) = file.location(node.start)
        guard !file.allows(rule, line: line) else { return }
        findings.append(
            Finding(
                file: file.path,
                line: line,
                column: column,
                rule: rule,
                severity: severity,
                message: message,
                code: String(node.text.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(160)),
                fix: fix
            )
        )
    }

    /// The path of the type that a node is in.
    func typePath(of node: some SyntaxProtocol) -> String? {
        var names: [String] = []
        for ancestor in node.ancestors {
            guard isTypeDeclaration(ancestor), let declaration = TypeCollector.declaration(ancestor) else { continue }
            names.append(declaration.0)
        }
        return names.isEmpty ? nil : names.reversed().joined(separator: ".")
    }

    /// The type that a node is in.
    func type(of node: some SyntaxProtocol) -> TypeInfo? {
        typePath(of: node).flatMap { index.type($0, module: file.module) }
    }

    func methods(_ name: String, of type: TypeInfo) -> [FunctionDeclSyntax] {
        index.methods(name, of: type, module: file.module)
    }

    func isMember(_ name: String, of type: TypeInfo) -> Bool {
        index.hasInstanceMember(name, type, module: file.module)
    }

    /// The stored property that a name in a function is, if it is one of the type's and not a local variable.
    func property(_ root: (name: String, viaSelf: Bool, isWhole: Bool)?, in type: TypeInfo, locals: Set<String>)
        -> String?
    {
        guard let root, root.viaSelf || !locals.contains(root.name) else { return nil }
        guard let property = index.property(root.name, of: type, module: file.module), !property.isStatic else {
            return nil
        }
        return root.name
    }
}

/// The code of a function, an accessor, an initializer or a closure.
enum Scope {
    case function(FunctionDeclSyntax)
    case initializer(InitializerDeclSyntax)
    case deinitializer(DeinitializerDeclSyntax)
    case accessor(Syntax, specifier: String)
    case closure(ClosureExprSyntax)
    case top

    /// The innermost scope around a node.
    init(of node: some SyntaxProtocol, skippingClosures: Bool = false) {
        for ancestor in node.ancestors {
            if let function = ancestor.as(FunctionDeclSyntax.self) { self = .function(function); return }
            if let initializer = ancestor.as(InitializerDeclSyntax.self) { self = .initializer(initializer); return }
            if let deinitializer = ancestor.as(DeinitializerDeclSyntax.self) {
                self = .deinitializer(deinitializer); return
            }
            if let accessor = ancestor.as(AccessorDeclSyntax.self) {
                self = .accessor(Syntax(accessor), specifier: accessor.accessorSpecifier.text)
                return
            }
            if let block = ancestor.as(AccessorBlockSyntax.self), case .getter = block.accessors {
                self = .accessor(Syntax(block), specifier: "get")
                return
            }
            if !skippingClosures, let closure = ancestor.as(ClosureExprSyntax.self) { self = .closure(closure); return }
            if isTypeDeclaration(ancestor) { break }
        }
        self = .top
    }

    var node: Syntax? {
        switch self {
        case .function(let node): Syntax(node)
        case .initializer(let node): Syntax(node)
        case .deinitializer(let node): Syntax(node)
        case .accessor(let node, _): node
        case .closure(let node): Syntax(node)
        case .top: nil
        }
    }

    var isStatic: Bool {
        let modifiers: DeclModifierListSyntax?
        switch self {
        case .function(let node): modifiers = node.modifiers
        case .accessor(let node, _):
            modifiers = node.ancestors.lazy.compactMap { $0.as(VariableDeclSyntax.self)?.modifiers }.first { _ in true }
        default: modifiers = nil
        }
        return modifiers?.contains { $0.name.text == "static" || $0.name.text == "class" } ?? false
    }

    var isAsync: Bool {
        switch self {
        case .function(let node): node.signature.effectSpecifiers?.asyncSpecifier != nil
        case .initializer(let node): node.signature.effectSpecifiers?.asyncSpecifier != nil
        case .accessor(let node, _): node.as(AccessorDeclSyntax.self)?.effectSpecifiers?.asyncSpecifier != nil
        case .closure, .deinitializer, .top: false
        }
    }

    var name: String {
        switch self {
        case .function(let node): node.name.text
        case .initializer: "init"
        case .deinitializer: "deinit"
        case .accessor(_, let specifier): specifier
        case .closure: ""
        case .top: ""
        }
    }

    var parameters: [FunctionParameterSyntax] {
        switch self {
        case .function(let node): Array(node.signature.parameterClause.parameters)
        case .initializer(let node): Array(node.signature.parameterClause.parameters)
        default: []
        }
    }
}

extension FunctionDeclSyntax {
    var isAsync: Bool { signature.effectSpecifiers?.asyncSpecifier != nil }
    var throwsErrors: Bool { signature.effectSpecifiers?.throwsClause != nil }
    var isStatic: Bool { modifiers.contains { $0.name.text == "static" || $0.name.text == "class" } }
    var returnsVoid: Bool { signature.returnClause.map { $0.type.text == "Void" || $0.type.text == "()" } ?? true }
    var parameterNames: [String] { signature.parameterClause.parameters.map { ($0.secondName ?? $0.firstName).text } }
    var attributeNames: [String] { attributes.compactMap { $0.as(AttributeSyntax.self)?.attributeName.text } }
}

/// The names that are declared in a function, at any depth: parameters, variables and constants.
func localNames(_ node: Syntax) -> Set<String> {
    var names: Set<String> = []
    func add(_ pattern: Syntax) {
        if let name = pattern.as(IdentifierPatternSyntax.self) { names.insert(name.identifier.text) }
        pattern.walk {
            if let name = $0.as(IdentifierPatternSyntax.self) { names.insert(name.identifier.text) }; return true
        }
    }
    if let function = node.as(FunctionDeclSyntax.self) { names.formUnion(function.parameterNames) }
    if let closure = node.as(ClosureExprSyntax.self) { names.formUnion(closure.parameterNames) }
    if let initializer = node.as(InitializerDeclSyntax.self) {
        names.formUnion(initializer.signature.parameterClause.parameters.map { ($0.secondName ?? $0.firstName).text })
    }
    node.walk { child in
        if let variable = child.as(VariableDeclSyntax.self) { variable.bindings.forEach { add(Syntax($0.pattern)) } }
        if let closure = child.as(ClosureExprSyntax.self) {
            names.formUnion(closure.parameterNames)
            closure.signature?.capture?.items.forEach { if $0.name.text != "self" { names.insert($0.name.text) } }
        }
        if let function = child.as(FunctionDeclSyntax.self) {
            names.insert(function.name.text)
            names.formUnion(function.parameterNames)
        }
        if let loop = child.as(ForStmtSyntax.self) { add(Syntax(loop.pattern)) }
        if let binding = child.as(ValueBindingPatternSyntax.self) { add(Syntax(binding.pattern)) }
        return true
    }
    return names
}

/// The names that a condition such as `if let item = next()` declares; `if let item` refers to a name outside.
func conditionNames(_ node: Syntax) -> Set<String> {
    var names: Set<String> = []
    node.walk { child in
        if let binding = child.as(OptionalBindingConditionSyntax.self), let value = binding.initializer?.value,
            let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text, value.root?.name != name
        {
            names.insert(name)
        }
        return true
    }
    return names
}
