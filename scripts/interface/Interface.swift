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

    /// A line that cannot be read. It is not skipped, since a declaration might be lost with it.
    struct UnknownLine: Error, CustomStringConvertible {
        let line: String
        var description: String { "not known to be a declaration: \(line)" }
    }

    /// The declarations up to the brace that closes, or to the end.
    private mutating func readBody() throws -> [Declaration] {
        var body: [Declaration] = []
        var attributes = ""
        var comment: [String] = []
        while let line = popLine() {
            if line == "}" { break }
            if line.hasPrefix("///") { comment.append(line) }
            if line.isEmpty || line.hasPrefix("//") || line.hasPrefix("import ") { continue }
            if line.withoutLiterals.wholeMatch(of: /@[\w.]+(\([^)]*\))?/) != nil {
                attributes += line + " "
                continue
            }
            var text = attributes + line
            // A default value may take several lines.
            while !text.isWhole, let rest = popLine() { text += " " + rest }
            guard var declaration = Declaration(line: text, comment: comment, in: module) else {
                throw UnknownLine(line: line)
            }
            if declaration.isType || declaration.isExtension { declaration.members = try readBody() }
            if declaration.keyword != "deinit" { body.append(declaration) }
            attributes = ""
            comment = []
        }
        return body
    }

    private mutating func popLine() -> String? {
        lines.popFirst().map { String($0.drop(while: \.isWhitespace)) }
    }

    /// The interface with only the spellings of other libraries, or without them. A type that is such a spelling comes with its members and its
    /// extensions.
    func selecting(compatibility: Bool) -> Interface {
        let types = Set(declarations.filter { $0.isType && $0.isCompatibility }.map(\.name))
        func isCompatibility(_ declaration: Declaration) -> Bool {
            declaration.isCompatibility || declaration.isExtension && types.contains(declaration.name)
        }
        var selection = self
        selection.declarations = declarations.compactMap { declaration in
            if isCompatibility(declaration) { return compatibility ? declaration : nil }
            guard declaration.members.contains(where: \.isCompatibility) else {
                return compatibility ? nil : declaration
            }
            var rest = declaration
            rest.members.removeAll { $0.isCompatibility != compatibility }
            if compatibility { rest.conformances = [] }
            return rest.isExtension && rest.members.isEmpty && rest.conformances.isEmpty ? nil : rest
        }
        return selection
    }

    /// The declarations without documentation, and those that may wait and do not document cancellation, nor does their type: each with the type
    /// that it is in.
    var undocumented: [String] {
        let told = Set(declarations.filter { $0.isType && $0.tellsOfCancellation }.map(\.name))
        func missing(in declarations: [Declaration], of type: String, isTold: Bool) -> [String] {
            declarations.flatMap { declaration -> [String] in
                var lacks: [String] = []
                let text = type + declaration.text
                if !declaration.isExtension && !declaration.hasSummary { lacks.append("\(text): no summary") }
                let isTold =
                    isTold || declaration.tellsOfCancellation
                    || declaration.isExtension && told.contains(declaration.name)
                if declaration.isAsync && !isTold { lacks.append("\(text): nothing of cancellation") }
                return lacks + missing(in: declaration.members, of: "\(type)\(declaration.name): ", isTold: isTold)
            }
        }
        return missing(in: declarations, of: "", isTold: false).sorted()
    }
}
