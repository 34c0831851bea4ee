import Foundation

/// Who may read and write. The server has one account.
struct Account: Codable, Sendable, Hashable {
    var user: String
    var password: String

    static let standard = Account(user: "reader", password: "classics")

    /// The password is not an argument: those are shown to everybody by `ps`.
    static func named(_ user: String?, environment: [String: String]) -> Account {
        Account(user: user ?? standard.user, password: environment["BOOKSHELF_PASSWORD"] ?? standard.password)
    }
}

/// What a login is answered with.
struct Login: Codable, Sendable {
    let token: String
}
