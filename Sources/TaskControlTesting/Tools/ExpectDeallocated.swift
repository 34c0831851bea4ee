/// Checks that an object goes once it is let go of: that nothing else has kept it.
///
/// ```swift
/// @MainActor @Test func theModelGoesWhileItsWorkIsUnderWay() async throws {
///     try await expectDeallocated {
///         let model = Model(server: neverAnswers)
///         model.load()
///         return model
///     }
/// }
/// ```
///
/// Runs the closure, releases the object that it returns, and checks whether the object is still alive: at once, and then
/// in growing intervals of the clock, the first of which is 1 ms long.
///
/// An object that a task holds is alive until that task has ended. An object that tasks release late is not a leak: the
/// default `limit` is long because only failures take it.
///
/// ## Cancellation
/// A caller that is cancelled leaves at once. The closure is cancelled as any call is.
///
/// - Parameters:
///   - limit: How long the object may stay, in the time of `clock`.
///   - clock: What is slept on between looks. With a ``TestClock`` that jumps, failures take no time either.
///   - fileID: Stands in the error, as do the other parts of the place.
///   - filePath: The file.
///   - line: The line.
///   - column: The column.
///   - make: Makes the object. Runs in the isolation of the caller.
/// - Throws: ``StillAliveError`` if the object is there after `limit`; `CancellationError` if the caller is cancelled;
///   what the closure throws.
public func expectDeallocated<Object: AnyObject & Sendable>(
    within limit: Duration = .seconds(10),
    clock: any Clock<Duration> = ContinuousClock(),
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    _ make: () async throws -> Object
) async throws {
    let object = try await letGo(of: make)
    var waited = Duration.zero
    var interval = Duration.milliseconds(1)
    while !object.isGone {
        guard waited < limit else {
            let location = CheckLocation(fileID: fileID, filePath: filePath, line: line, column: column)
            throw StillAliveError(type: "\(Object.self)", limit: limit, location: location)
        }
        interval = min(interval, limit - waited)
        try await clock.pause(for: interval)
        waited += interval
        interval = min(interval * 2, .milliseconds(100))
    }
}

/// An object did not go: what ``expectDeallocated(within:clock:fileID:filePath:line:column:_:)`` throws.
///
/// ```text
/// /tests/ModelTests.swift:7:19: Model is still alive 10.0 seconds after it was let go of: something keeps it
/// ```
public struct StillAliveError: Error, Hashable, CustomStringConvertible {
    /// The type that was returned; the object may be of a subclass.
    public let type: String
    /// How long the object was given.
    public let limit: Duration
    /// Where the object was expected to go.
    public let location: CheckLocation

    /// One line: where, what, and how long.
    public var description: String {
        "\(location): \(type) is still alive \(limit) after it was let go of: something keeps it"
    }
}

/// In a function of its own, so that the caller's frame never holds the object.
private func letGo<Object: AnyObject & Sendable>(of make: () async throws -> Object) async throws -> Trace<Object> {
    Trace(object: try await make())
}

private struct Trace<Object: AnyObject & Sendable>: Sendable {
    weak let object: Object?

    var isGone: Bool { object == nil }
}
