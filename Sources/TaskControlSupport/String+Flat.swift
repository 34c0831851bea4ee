extension String {
    /// The text in one line: each run of line breaks becomes a space.
    public var flat: String { split(whereSeparator: \.isNewline).joined(separator: " ") }
}
