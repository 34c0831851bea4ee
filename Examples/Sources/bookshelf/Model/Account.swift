import Foundation

/// The user who may read and write. The server has one account.
struct Account: Codable, Sendable, Hashable {
    var user: String
    var password: String

    static let standard = Account(user: "reader", password: "classics")

    /// Returns an account whose password is in the environment. The password is not an argument: `ps` shows arguments to all users.
    static func named(_ user: String?, environment: [String: String]) -> Account {
        Account(user: user ?? standard.user, password: environment["BOOKSHELF_PASSWORD"] ?? standard.password)
    }
}

/// The response to a login.
struct Login: Codable, Sendable {
    let token: String
}
