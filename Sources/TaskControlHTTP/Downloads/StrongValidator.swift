internal import Foundation

/// Functions for strong validators: texts with which a server identifies the exact bytes of a representation, for
/// `If-Range` (RFC 9110, 13.1.5).
enum StrongValidator {
    /// The smallest difference, in seconds, between the `Date` and the `Last-Modified` of a response at which its
    /// `Last-Modified` is a strong validator (RFC 9110, 8.8.2.2). The representation then cannot have changed twice
    /// within the second of the last modification, even if two clocks of the server differ.
    static let leastAge: TimeInterval = 60

    /// Returns the strong validator of a response: its entity tag, if that is strong; for a response without an entity
    /// tag, the date of its last modification, if that is a strong validator. Otherwise `nil`: beside a weak entity
    /// tag, the date must not be used either.
    ///
    /// - Parameters:
    ///   - entityTag: The `ETag` header of the response; `nil` if there is none.
    ///   - lastModified: The `Last-Modified` header of the response; `nil` if there is none.
    ///   - date: The `Date` header of the response; `nil` if there is none. The last modification must be older by at
    ///     least ``leastAge``.
    static func of(entityTag: String?, lastModified: String?, date: String?) -> String? {
        if let entityTag { return isStrong(entityTag) ? entityTag : nil }
        guard let lastModified, let date, let modified = HTTPDate.parse(lastModified), let made = HTTPDate.parse(date),
            made.timeIntervalSince(modified) >= leastAge
        else { return nil }
        return lastModified
    }

    /// Returns whether a text is an entity tag that is not weak (RFC 9110, 8.8.3).
    static func isStrong(_ tag: String) -> Bool {
        tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
            && tag.dropFirst().dropLast().utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x7F }
    }
}
