/// An interface as text that differs only where the interface does: types by name, a declaration a line under its type.
///
/// Declarations whose names begin with an underscore are left out.
///
/// Members that an extension adds to a type of the module are listed with the type, as they are the same to a caller. It stands alone if it asks
/// something of the type parameters, and if it extends a protocol: what is in the protocol is asked, what is in the extension is given.
struct Dump: CustomStringConvertible {
    private struct Block {
        var type = ""
        var head = ""
        var conformances: Set<String> = []
        var requirements: String?
        var members: [Declaration] = []
    }

    private var blocks: [String: Block] = [:]

    init(_ interface: Interface) {
        add(interface.declarations, of: "", to: "")
        // An extension may come before its type.
        for (key, block) in blocks where block.head.hasPrefix("extension ") && block.requirements == nil {
            guard let type = blocks[block.type], !type.head.contains("protocol ") else { continue }
            blocks[block.type]!.conformances.formUnion(block.conformances)
            blocks[block.type]!.members += block.members
            blocks[key] = nil
        }
    }

    private mutating func add(_ declarations: [Declaration], of type: String, to key: String) {
        for declaration in declarations {
            // A name that begins with an underscore is not part of the API, although the language requires it to be public.
            if declaration.name.hasPrefix("_") && !declaration.isExtension { continue }
            guard declaration.isType || declaration.isExtension else {
                blocks[key, default: Block()].members.append(declaration)
                continue
            }
            let type = type.isEmpty ? declaration.name : "\(type).\(declaration.name)"
            let key = declaration.isExtension ? "extension \(type) \(declaration.requirements ?? "")" : type
            var block = blocks[key, default: Block()]
            block.type = type
            block.head = String(declaration.text.split(separator: " : ")[0].split(separator: " where ")[0])
                .replacing(declaration.name, with: type, maxReplacements: 1)
            block.conformances.formUnion(declaration.conformances)
            block.requirements = declaration.requirements
            blocks[key] = block
            add(declaration.members, of: type, to: key)
        }
    }

    var description: String {
        blocks.sorted { ($0.value.type, $0.key) < ($1.value.type, $1.key) }
            .map { _, block in
                var head = block.head
                if !block.conformances.isEmpty { head += " : " + block.conformances.sorted().joined(separator: ", ") }
                if let requirements = block.requirements { head += " where " + requirements }
                let indent = head.isEmpty ? "" : "    "
                let members = block.members.sorted { Self.order($0) < Self.order($1) }.map { indent + $0.text }
                return ((head.isEmpty ? [] : [head]) + members).joined(separator: "\n")
            }
            .joined(separator: "\n\n")
    }

    /// The parts of a type come before its initializers, and those before its other members.
    private static func order(_ declaration: Declaration) -> (Int, String, String) {
        let kinds = [["associatedtype", "typealias"], ["case"], ["init"], ["let", "var", "subscript"], ["func"]]
        let kind = kinds.firstIndex { $0.contains(declaration.keyword) } ?? kinds.count
        let isStatic = declaration.text.contains("static \(declaration.keyword)")
        return (kind * 2 + (isStatic ? 0 : 1), declaration.name, declaration.text)
    }
}
