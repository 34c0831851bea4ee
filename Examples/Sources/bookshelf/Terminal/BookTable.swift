/// A table of books, one per line.
enum BookTable {
    /// The width of the widest title that determines the width of the column. Longer titles are not cut, and do not widen the column.
    private static let widestTitle = 60

    /// Returns the lines of the table.
    ///
    /// - Parameter width: The width of the terminal, to which longer lines are cut; `nil` without a terminal: no line is cut.
    static func lines(_ books: [Book], width: Int?) -> [String] {
        let titles = books.map(\.title.printable)
        let titleWidth = titles.map(\.columns).filter { $0 <= widestTitle }.max() ?? 0
        let idWidth = books.map { "\($0.id)".count }.max() ?? 0
        return zip(books, titles).map { book, title in
            let id = "\(book.id)"
            let year = book.year.map { ", \($0)" } ?? ""
            let cover = book.cover.map { ", cover of \($0.size) bytes" } ?? ""
            let line =
                String(repeating: " ", count: idWidth - id.count) + id + "  " + title.filled(to: titleWidth)
                + "  " + (book.author + year + cover).printable
            return width.map { line.cut(to: $0) } ?? line
        }
    }
}
