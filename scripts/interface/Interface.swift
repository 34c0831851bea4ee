/// The public interface of a module, read from what `swift-synthesize-interface` prints: its declarations as the compiler sees them, each
/// with its documentation.
struct Interface {
    let module: String
    private(set) var declarations: [Declaration] = []
    private var lines: ArraySlice<String>

    init(module: String, lines: [String]) throws {
        self.module = module
        self.lines = lines[...]
        declarations = try readBody()
    }

    /// What cannot be read. It is not passed over, since a declaration might be lost with it.
    struct UnknownLine: Error, CustomStringConvertible {
        let line: String
        var description: String { "not known to be a declaration: \(line)" }
    }

    /// The declarations up to the brace that closes, or to the end.
    private mutating func readBody() throws -> [Declaration] {
        var body: [Declaration] = []
        var attributes = ""
        var isDocumented: Bool?
        while let next = lines.popFirst() {
            let line = String(next.drop(while: \.isWhitespace))
            if line == "}" { break }
            // By its first line, the summary: parameters alone are none.
            if line.hasPrefix("///") { isDocumented = isDocumented ?? !line.hasPrefix("/// - ") }
            if line.isEmpty || line.hasPrefix("//") || line.hasPrefix("import ") { continue }
            if line.wholeMatch(of: /@\w+(\([^)]*\))?/) != nil {
                attributes += line + " "
                continue
            }
            let isOpen = line.hasSuffix(" {")
            let text = attributes + (isOpen ? line.dropLast(2) : line[...])
            guard var declaration = Declaration(line: text, in: module, isDocumented: isDocumented ?? false) else {
                throw UnknownLine(line: line)
            }
            if isOpen { declaration.members = try readBody() }
            if declaration.keyword != "deinit" { body.append(declaration) }
            attributes = ""
            isDocumented = nil
        }
        return body
    }

    /// What has no documentation, each with the type that it is in.
    var undocumented: [String] {
        func missing(in declarations: [Declaration], of type: String) -> [String] {
            declarations.flatMap { declaration in
                let own = declaration.isDocumented || declaration.isExtension ? [] : [type + declaration.text]
                return own + missing(in: declaration.members, of: type + declaration.name + ": ")
            }
        }
        return missing(in: declarations, of: "").sorted()
    }
}
