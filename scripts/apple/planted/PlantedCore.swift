// The core may sleep, except in code that its clients compile too.

/// Weak in the other module.
public func isThere() -> Bool { true }

public func sleeps() async throws { try await ContinuousClock().sleep(until: .now) }

// finds sleep: inlinableSleeps
@inlinable
public func inlinableSleeps<C: Clock>(_ clock: C) async throws { try await clock.sleep(until: clock.now, tolerance: nil) }

// finds sleep: emittedSleeps
@_alwaysEmitIntoClient
public func emittedSleeps() async throws { try await Task.sleep(for: .seconds(1)) }

@inlinable
public func callsTheOneThatSleeps() async throws { try await sleeps() }
