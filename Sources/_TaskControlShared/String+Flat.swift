extension String {
    /// The text in one line: each run of line breaks inside the text becomes a space, and line breaks at the beginning
    /// and the end are removed.
    public var flat: String { split(whereSeparator: \.isNewline).joined(separator: " ") }
}
