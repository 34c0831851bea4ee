/// Functions for strong validators: texts with which a server identifies the exact bytes of a representation, for
/// `If-Range` (RFC 9110, 13.1.5).
enum StrongValidator {
    /// The time in seconds by which a modification must be older than the response, so that its date is a strong
    /// validator (RFC 9110, 8.8.2.2). The representation then cannot have changed twice within the second of that date,
    /// even if two clocks of the server differ.
    static let leastAge: TimeInterval = 60

    /// Returns the entity tag, if it is strong. Without any tag, returns the date of the last modification, if it is a strong validator. Returns
    /// `nil` otherwise: with a weak tag, a date must not be used either.
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
