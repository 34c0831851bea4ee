extension String {
    /// The number of columns that the text takes in a terminal.
    var columns: Int { reduce(0) { $0 + $1.columns } }

    /// The text without characters that would move the cursor or change colors: names of files and titles of books are input from outside.
    var printable: String {
        String(map { $0.unicodeScalars.contains { $0.properties.generalCategory == .control } ? "\u{FFFD}" : $0 })
    }

    /// Returns the text, cut to a number of columns; `…` stands for the rest.
    func cut(to width: Int) -> String {
        guard columns > width else { return self }
        guard width > 0 else { return "" }
        var kept = ""
        var used = 1
        for character in self {
            used += character.columns
            if used > width { break }
            kept.append(character)
        }
        return kept + "…"
    }

    /// Returns the text, cut or filled with spaces to exactly a number of columns.
    func fitted(to width: Int) -> String {
        cut(to: width).filled(to: width)
    }

    /// Returns the text, filled with spaces to at least a number of columns.
    func filled(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - columns))
    }
}

extension Character {
    /// The number of columns of the character: 2 for East Asian scripts and emoji, 1 for others (Unicode, UAX 11, in ranges).
    fileprivate var columns: Int {
        guard let first = unicodeScalars.first else { return 0 }
        let isWide: Bool =
            switch first.value {
            case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
                0xFF00...0xFF60,
                0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
                true
            default: first.properties.isEmojiPresentation
            }
        return isWide ? 2 : 1
    }
}
