/// A region of lines at the end of a terminal that are drawn over: the text to send to the terminal, as a pure function of its current content.
struct LiveRegion: Sendable {
    /// The lines that were drawn last, without colors; the cursor is below it.
    private(set) var drawn: [String] = []

    /// Draws over what is there.
    ///
    /// - Parameters:
    ///   - lines: At most as wide as the terminal; if they are too many for it, the first ones are left out.
    ///   - above: Lines that stay permanently, above the region.
    ///   - size: The terminal's, now. It may have become narrower since: then what was drawn takes more rows.
    mutating func draw(_ lines: [String], above: [String] = [], size: Screen.Size) -> String {
        let shown = Array(lines.suffix(max(0, size.height - 1)))
        if shown == drawn && above.isEmpty { return "" }
        var text = erasure(size)
        for line in above + shown { text += line + "\n" }
        drawn = shown
        return text
    }

    /// Removes what is there.
    mutating func clear(size: Screen.Size) -> String {
        defer { drawn = [] }
        return erasure(size)
    }

    private func erasure(_ size: Screen.Size) -> String {
        let rows = drawn.reduce(0) { $0 + max(1, ($1.columns + size.width - 1) / max(1, size.width)) }
        // To the first column, up, and clear what is below.
        return drawn.isEmpty ? "" : "\r" + (rows > 0 ? "\u{1B}[\(min(rows, size.height - 1))A" : "") + "\u{1B}[J"
    }
}
