/// A book, as the server knows it.
struct Book: Codable, Sendable, Hashable, Identifiable {
    let id: Int
    let title: String
    let author: String
    let year: Int?
    /// The cover; `nil` until a cover has been uploaded.
    var cover: Cover?
}

/// A book that the server doesn't know yet.
struct NewBook: Codable, Sendable, Hashable {
    let title: String
    let author: String
    let year: Int?
}

/// The server's description of a cover, instead of the picture.
struct Cover: Codable, Sendable, Hashable {
    let size: Int
    let checksum: Checksum
}

/// A page of books, in the order of their numbers.
struct BookPage: Codable, Sendable, Hashable {
    let books: [Book]
    /// The number of the page, counted from 1.
    let page: Int
    /// The number of pages, at least 1.
    let pages: Int
}

/// A change on the shelf.
struct Change: Codable, Sendable, Hashable {
    enum Kind: String, Codable, Sendable {
        case added
        case cover
    }

    /// The number of the change, counted from 1, without gaps: a client that knows the last number it has seen can continue from there.
    let number: Int
    let kind: Kind
    let book: Book
}
