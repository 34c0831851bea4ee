import Testing

/// Expects a condition that a call to a mutating function gives, which `#expect` refuses.
func check(_ condition: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(condition, sourceLocation: sourceLocation)
}
