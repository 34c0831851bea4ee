/// A piece of SVG: what is written into it as text or as an attribute is escaped.
struct SVGElement {
    private let name: String
    private let attributes: [(String, String)]
    private let content: [Content]

    private enum Content {
        case text(String)
        case element(SVGElement)
    }

    init(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], _ children: [SVGElement] = []) {
        self.name = name
        self.attributes = attributes.map { ($0, $1) }
        content = children.map { .element($0) }
    }

    init(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], text: String) {
        self.name = name
        self.attributes = attributes.map { ($0, $1) }
        content = [.text(text)]
    }

    var lines: [String] {
        let head = name + attributes.map { " \($0)=\"\(Self.escaped($1))\"" }.joined()
        if content.isEmpty { return ["<\(head)/>"] }
        if case .text(let text) = content[0] { return ["<\(head)>\(Self.escaped(text))</\(name)>"] }
        let inner = content.flatMap { content -> [String] in
            if case .element(let element) = content { element.lines.map { "  " + $0 } } else { [] }
        }
        return ["<\(head)>"] + inner + ["</\(name)>"]
    }

    private static func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            default: String(character)
            }
        }
        .joined()
    }
}
