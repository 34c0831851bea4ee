/// A book, as the server knows it.
struct Book: Codable, Sendable, Hashable, Identifiable {
    let id: Int
    let title: String
    let author: String
    /// The size of the cover in bytes; `nil` until a cover has been uploaded.
    var cover: Int?

    var line: String { "\(id)  \(title)  \(author)" + (cover.map { ", cover of \($0) bytes" } ?? "") }
}

/// A book that the server does not know yet.
struct NewBook: Codable, Sendable, Hashable {
    let title: String
    let author: String

    /// The books on the shelf when the server begins.
    static let classics = [
        NewBook(title: "Pride and Prejudice", author: "Jane Austen"),
        NewBook(title: "Emma", author: "Jane Austen"),
        NewBook(title: "Frankenstein", author: "Mary Shelley"),
        NewBook(title: "The Count of Monte Cristo", author: "Alexandre Dumas"),
        NewBook(title: "Jane Eyre", author: "Charlotte Brontë"),
        NewBook(title: "Wuthering Heights", author: "Emily Brontë"),
        NewBook(title: "Moby-Dick", author: "Herman Melville"),
        NewBook(title: "Middlemarch", author: "George Eliot"),
        NewBook(title: "Anna Karenina", author: "Leo Tolstoy"),
        NewBook(title: "Dracula", author: "Bram Stoker"),
        NewBook(title: "我是猫", author: "夏目漱石"),
        NewBook(title: "Mrs Dalloway", author: "Virginia Woolf"),
    ]
}

/// A page of books, in the order of their numbers.
struct BookPage: Codable, Sendable, Hashable {
    let books: [Book]
    /// The number of the page, counted from 1.
    let page: Int
    let pages: Int
}

/// A change on the shelf.
struct Change: Codable, Sendable, Hashable {
    enum Kind: String, Codable, Sendable { case added, cover }

    /// The number of the change, counted from 1, without gaps: a client that knows the last number it has seen can continue from there.
    let number: Int
    let kind: Kind
    let book: Book

    var line: String { "\(number)  \(kind == .added ? "new" : "cover"): \(book.line)" }
}

/// The user who may read and write. The server has one account.
struct Account: Codable, Sendable, Hashable {
    var user = "reader"
    var password = "classics"
}

/// The response to a login.
struct Login: Codable, Sendable {
    let token: String
}
