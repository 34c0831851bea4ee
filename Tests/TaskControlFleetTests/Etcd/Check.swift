import Testing

/// Expects a condition that a call to a mutating function gives, which `#expect` refuses.
func check(_ condition: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(condition, sourceLocation: sourceLocation)
}

/// The time limit of an attempt in tests that are not about it: tests that run at the same time can keep all processors busy for longer than the default.
let longAttempt = Duration.seconds(600)
