internal import Foundation

extension URL {
    /// Returns the URL with query items appended to those that it has.
    ///
    /// In the names and values, all characters except ASCII letters, digits and `-._~` are percent-encoded. This
    /// includes `+`, which servers read as a space.
    func appending(_ items: [URLQueryItem]) -> URL {
        guard !items.isEmpty, var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            return self
        }
        let added = items.map { item in
            item.name.percentEncoded + (item.value.map { "=" + $0.percentEncoded } ?? "")
        }
        let there = components.percentEncodedQuery.flatMap { $0.isEmpty ? nil : $0 }
        components.percentEncodedQuery = ([there].compactMap(\.self) + added).joined(separator: "&")
        return components.url ?? self
    }
}

extension String {
    /// The text in which all characters except the letters, digits and `-._~` of ASCII are percent-encoded (RFC 3986,
    /// 2.3).
    var percentEncoded: String {
        var unreserved = CharacterSet(charactersIn: "-._~")
        unreserved.insert(charactersIn: "a"..."z")
        unreserved.insert(charactersIn: "A"..."Z")
        unreserved.insert(charactersIn: "0"..."9")
        return addingPercentEncoding(withAllowedCharacters: unreserved) ?? self
    }
}
