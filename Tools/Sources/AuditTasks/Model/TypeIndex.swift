import SwiftSyntax

/// A description of a type, from its declaration and its extensions in all files.
struct TypeInfo: Sendable {
    enum Kind: Sendable { case `class`, actor, `struct`, `enum`, `protocol`, unknown }

    struct Property: Sendable {
        var type: String?
        var initial: String?
        var isStatic = false
        var isConstant = false
        var isComputed = false
        var attributes: [String] = []
        /// The beginning of the code of a computed property.
        var getter: String?

        /// Whether the property can hold a task.
        var holdsTask: Bool {
            if let type { return type.contains("Task<") || type == "Task" }
            return initial.map {
                $0.hasPrefix("Task {") || $0.hasPrefix("Task(") || $0.hasPrefix("Task.detached") || $0.contains("Task<")
            } ?? false
        }

        var isOptional: Bool { type?.hasSuffix("?") == true || type?.hasPrefix("Optional<") == true }
    }

    let name: String
    var kind = Kind.unknown
    var attributes: Set<String> = []
    var inherits: Set<String> = []
    var properties: [String: Property] = [:]
    var methods: [String: [FunctionDeclSyntax]] = [:]
    var methodNames: Set<String> = []
    var deinits: [DeinitializerDeclSyntax] = []
    /// The members of the declaration and the extensions.
    var blocks: [MemberBlockSyntax] = []

    mutating func merge(_ other: TypeInfo) {
        if kind == .unknown { kind = other.kind }
        attributes.formUnion(other.attributes)
        inherits.formUnion(other.inherits)
        properties.merge(other.properties) { old, _ in old }
        methods.merge(other.methods) { $0 + $1 }
        methodNames.formUnion(other.methodNames)
        deinits += other.deinits
        blocks += other.blocks
    }

    var isReference: Bool { kind == .class || kind == .actor }

    /// Whether the type declares a shared instance, which lives as long as the process.
    var isProcessWide: Bool {
        let singletons = properties.contains { name, property in
            property.isStatic && ["shared", "default", "current", "instance", "standard", "main"].contains(name)
                && (property.initial.map {
                    $0.hasPrefix(self.shortName + "(") || $0.hasPrefix(".init(") || $0.hasPrefix("Self(")
                } ?? false)
        }
        return singletons || attributes.contains("main") || attributes.contains("UIApplicationMain")
            || !inherits.isDisjoint(with: ["UIApplicationDelegate", "NSApplicationDelegate", "App"])
    }

    var shortName: String { name.split(separator: ".").last.map(String.init) ?? name }
}

extension String {
    func containsAny(_ words: [String]) -> Bool {
        let lower = lowercased()
        return words.contains { lower.contains($0) }
    }
}

/// The types of all files.
struct TypeIndex: Sendable {
    private var types: [String: TypeInfo] = [:]
    private var paths: [String: [String]] = [:]
    private var globalActors: Set<String> = ["MainActor"]
    /// The names of properties whose tasks code outside their type cancels.
    private(set) var cancelledNames: Set<String> = []

    /// The awaited calls of all files, by the name of what is called.
    private(set) var callSites: [String: [CallSite]] = [:]
    /// How many types declare a method of a name.
    private(set) var methodCounts: [String: Int] = [:]

    mutating func add(_ sites: [CallSite]) {
        for site in sites { callSites[site.name, default: []].append(site) }
    }

    mutating func addCancelled(_ names: Set<String>) { cancelledNames.formUnion(names) }

    mutating func add(_ found: [TypeInfo], module: String) {
        for type in found {
            let key = module + "|" + type.name
            if types[key] == nil { paths[type.name, default: []].append(key) }
            types[key, default: TypeInfo(name: type.name)].merge(type)
            for name in type.methodNames { methodCounts[name, default: 0] += 1 }
            if type.attributes.contains("globalActor") { globalActors.insert(type.shortName) }
        }
    }

    func type(_ name: String, module: String) -> TypeInfo? {
        if let type = types[module + "|" + name] { return type }
        guard let keys = paths[name], keys.count == 1 else { return nil }
        return types[keys[0]]
    }

    func all(module: String) -> [TypeInfo] {
        types.filter { $0.key.hasPrefix(module + "|") }.map(\.value).sorted { $0.name < $1.name }
    }

    private static let onMainActor: Set<String> = [
        "UIViewController", "UITableViewController", "UICollectionViewController", "UINavigationController", "UIView",
        "UITableViewCell",
        "UICollectionViewCell", "NSViewController", "NSView", "NSWindowController", "NSWindow", "UIApplicationDelegate",
        "NSApplicationDelegate",
        "UIResponder", "UIControl", "UITabBarController",
    ]

    /// Whether the instance members of a type are isolated to an actor, which other callers can enter while one awaits.
    func isIsolated(_ type: TypeInfo, module: String, depth: Int = 0) -> Bool {
        if type.kind == .actor { return true }
        if isolatesGlobally(type.attributes) { return true }
        guard depth < 8 else { return false }
        for parent in type.inherits {
            if Self.onMainActor.contains(parent) { return true }
            if let parent = self.type(parent, module: module), parent.name != type.name,
                isIsolated(parent, module: module, depth: depth + 1)
            {
                return true
            }
        }
        return false
    }

    func isolatesGlobally(_ attributes: some Sequence<String>) -> Bool {
        attributes.contains { globalActors.contains($0) || ($0.hasSuffix("Actor") && $0 != "globalActor") }
    }

    func inherits(_ type: TypeInfo, from names: Set<String>, module: String, depth: Int = 0) -> Bool {
        guard depth < 8 else { return false }
        return type.inherits.contains { parent in
            if names.contains(parent) { return true }
            guard let parent = self.type(parent, module: module), parent.name != type.name else { return false }
            return inherits(parent, from: names, module: module, depth: depth + 1)
        }
    }

    /// Whether a name is that of an instance member of a type, or of one that it inherits from.
    func hasInstanceMember(_ name: String, _ type: TypeInfo, module: String, depth: Int = 0) -> Bool {
        if let property = type.properties[name] { return !property.isStatic }
        if type.methodNames.contains(name) { return true }
        guard depth < 8 else { return false }
        return type.inherits.contains { parent in
            guard let parent = self.type(parent, module: module), parent.name != type.name else { return false }
            return hasInstanceMember(name, parent, module: module, depth: depth + 1)
        }
    }

    /// The declarations of a method of a type, or of one that it inherits from.
    func methods(_ name: String, of type: TypeInfo, module: String, depth: Int = 0) -> [FunctionDeclSyntax] {
        if let found = type.methods[name] { return found }
        guard depth < 8 else { return [] }
        for parent in type.inherits.sorted() {
            guard let parent = self.type(parent, module: module), parent.name != type.name else { continue }
            let found = methods(name, of: parent, module: module, depth: depth + 1)
            if !found.isEmpty { return found }
        }
        return []
    }

    /// The declarations of a type's property, or of one that it inherits.
    func property(_ name: String, of type: TypeInfo, module: String, depth: Int = 0) -> TypeInfo.Property? {
        if let found = type.properties[name] { return found }
        guard depth < 8 else { return nil }
        for parent in type.inherits.sorted() {
            guard let parent = self.type(parent, module: module), parent.name != type.name else { continue }
            if let found = property(name, of: parent, module: module, depth: depth + 1) { return found }
        }
        return nil
    }
}

/// Collects the types of one file.
struct TypeCollector {
    private(set) var found: [TypeInfo] = []
    /// Whether to keep syntax, which keeps the tree of the file in memory.
    let keepsSyntax: Bool

    init(_ tree: SourceFileSyntax, keepsSyntax: Bool) {
        self.keepsSyntax = keepsSyntax
        visit(Syntax(tree), path: "")
    }

    private mutating func visit(_ node: Syntax, path: String) {
        for child in node.children(viewMode: .sourceAccurate) {
            if child.is(TokenSyntax.self) { continue }
            guard let (name, kind, inherits, attributes, members) = Self.declaration(child) else {
                // Local types are seldom, and files are long.
                if child.is(FunctionDeclSyntax.self) || child.is(VariableDeclSyntax.self)
                    || child.is(InitializerDeclSyntax.self)
                {
                    if keepsSyntax { visit(child, path: path) }
                } else {
                    visit(child, path: path)
                }
                continue
            }
            let full = path.isEmpty ? name : path + "." + name
            var type = TypeInfo(name: full)
            type.kind = kind
            type.attributes = attributes
            type.inherits = inherits
            collect(members, into: &type)
            found.append(type)
            visit(Syntax(members), path: full)
        }
    }

    private func collect(_ members: MemberBlockSyntax, into type: inout TypeInfo) {
        if keepsSyntax { type.blocks.append(members) }
        collect(members.members, into: &type)
    }

    private func collect(_ members: MemberBlockItemListSyntax, into type: inout TypeInfo) {
        for member in members {
            if let variable = member.decl.as(VariableDeclSyntax.self) {
                let isStatic = variable.modifiers.contains { $0.name.text == "static" || $0.name.text == "class" }
                for binding in variable.bindings {
                    guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else { continue }
                    type.properties[name] = TypeInfo.Property(
                        type: binding.typeAnnotation?.type.text,
                        initial: binding.initializer.map { String($0.value.text.prefix(120)) },
                        isStatic: isStatic,
                        isConstant: variable.bindingSpecifier.text == "let",
                        isComputed: binding.accessorBlock.map { Self.isComputed($0) } ?? false,
                        attributes: variable.attributes.compactMap { $0.as(AttributeSyntax.self)?.attributeName.text },
                        getter: binding.accessorBlock.flatMap {
                            Self.isComputed($0) ? String($0.text.prefix(160)) : nil
                        }
                    )
                }
            } else if let function = member.decl.as(FunctionDeclSyntax.self) {
                let isStatic = function.modifiers.contains { $0.name.text == "static" || $0.name.text == "class" }
                if !isStatic { type.methodNames.insert(function.name.text) }
                if keepsSyntax { type.methods[function.name.text, default: []].append(function) }
            } else if let end = member.decl.as(DeinitializerDeclSyntax.self) {
                if keepsSyntax { type.deinits.append(end) }
            } else if let condition = member.decl.as(IfConfigDeclSyntax.self) {
                for clause in condition.clauses {
                    if case .decls(let members) = clause.elements { collect(members, into: &type) }
                }
            }
        }
    }

    private static func isComputed(_ block: AccessorBlockSyntax) -> Bool {
        guard case .accessors(let list) = block.accessors else { return true }
        return list.contains { $0.accessorSpecifier.text == "get" || $0.accessorSpecifier.text == "_read" }
    }

    typealias Declaration = (String, TypeInfo.Kind, Set<String>, Set<String>, MemberBlockSyntax)

    static func declaration(_ node: Syntax) -> Declaration? {
        func inherited(_ clause: InheritanceClauseSyntax?) -> Set<String> {
            Set(clause?.inheritedTypes.map { base($0.type.text) } ?? [])
        }
        func base(_ type: String) -> String {
            var name = Substring(type)
            while name.hasPrefix("@"), let space = name.firstIndex(of: " ") { name = name[space...].drop { $0 == " " } }
            return String(name.prefix { $0 != "<" && $0 != " " })
        }
        func attributes(_ list: AttributeListSyntax) -> Set<String> {
            Set(list.compactMap { $0.as(AttributeSyntax.self)?.attributeName.text })
        }
        switch node.kind {
        case .classDecl:
            let node = node.cast(ClassDeclSyntax.self)
            return (
                node.name.text, .class, inherited(node.inheritanceClause), attributes(node.attributes), node.memberBlock
            )
        case .actorDecl:
            let node = node.cast(ActorDeclSyntax.self)
            return (
                node.name.text, .actor, inherited(node.inheritanceClause), attributes(node.attributes), node.memberBlock
            )
        case .structDecl:
            let node = node.cast(StructDeclSyntax.self)
            return (
                node.name.text, .struct, inherited(node.inheritanceClause), attributes(node.attributes),
                node.memberBlock
            )
        case .enumDecl:
            let node = node.cast(EnumDeclSyntax.self)
            return (
                node.name.text, .enum, inherited(node.inheritanceClause), attributes(node.attributes), node.memberBlock
            )
        case .protocolDecl:
            let node = node.cast(ProtocolDeclSyntax.self)
            return (
                node.name.text, .protocol, inherited(node.inheritanceClause), attributes(node.attributes),
                node.memberBlock
            )
        case .extensionDecl:
            let node = node.cast(ExtensionDeclSyntax.self)
            return (
                base(node.extendedType.text), .unknown, inherited(node.inheritanceClause), attributes(node.attributes),
                node.memberBlock
            )
        default: return nil
        }
    }
}
