/// Books, one a line.
enum BookTable {
    /// Longer titles are not cut, and have no part in how far the others are filled up.
    private static let widestTitle = 60

    /// - Parameter width: The terminal's: longer lines are cut. `nil`: no terminal, nothing is cut.
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
