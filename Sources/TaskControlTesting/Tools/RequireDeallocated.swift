/// Throws an error if something retains an object after the test has released it.
///
/// ```swift
/// @MainActor @Test func theModelIsDeallocatedWhileItsWorkRuns() async throws {
///     try await requireDeallocated {
///         let model = Model(server: neverAnswers)
///         model.load()
///         return model
///     }
/// }
/// ```
///
/// Calls the closure, releases the object that it returns, and checks whether the object is deallocated: at once, and then at growing
/// intervals, the first of which is 1 ms long.
///
/// A task that uses the object retains it until the task ends. Therefore an object that is deallocated late, but within
/// `limit`, is not a leak. The default of `limit` is long because only a failing test takes that long.
///
/// Like `#require`, this function throws, so that the test ends at the first object that is still alive.
///
/// ## Cancellation
/// The closure runs in the caller's task, and is cancelled with it. If the caller is cancelled while this function
/// checks the object, it throws `CancellationError` at once.
///
/// - Parameters:
///   - limit: The longest time for which the object may live after the closure has returned, in the time of `clock`.
///   - clock: The clock that measures the intervals between the checks. With a ``TestClock`` that advances automatically, a failing check
///     takes no real time.
///   - fileID: The file of the call, shown in the error.
///   - filePath: The path of that file, shown in the error.
///   - line: The line of the call, shown in the error.
///   - column: The column of the call, shown in the error.
///   - make: Creates and returns the object. Runs in the isolation of the caller.
/// - Throws: An error that names the type if the object is still alive after `limit`; `CancellationError` if the caller is
///   cancelled; any error of the closure or of the clock.
public func requireDeallocated<Object: AnyObject & Sendable>(
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
            let location = Simulation.Location(fileID: fileID, filePath: filePath, line: line, column: column)
            throw StillAliveError(type: "\(Object.self)", limit: limit, location: location)
        }
        interval = min(interval, limit - waited)
        try await clock.pause(for: interval)
        waited += interval
        interval = min(interval * 2, .milliseconds(100))
    }
}

/// The error for an object that is still retained although it should have been deallocated.
///
/// ``requireDeallocated(within:clock:fileID:filePath:line:column:_:)`` throws it.
///
/// ```text
/// /tests/ModelTests.swift:7:19: Model is still alive 10.0 seconds after it was released: something retains it
/// ```
package struct StillAliveError: Error, Hashable, CustomStringConvertible {
    /// The name of the type that the closure of `requireDeallocated` returns. The object can be an instance of a
    /// subclass.
    package let type: String
    /// The time limit of the call, after which the object was still alive: the parameter `limit`.
    package let limit: Duration
    /// The location of the call of `requireDeallocated`.
    package let location: Simulation.Location

    /// One line with the location of the call, the type of the object, and the time limit.
    package var description: String {
        "\(location): \(type) is still alive \(limit) after it was released: something retains it"
    }
}

/// Calls the closure, and returns a weak reference to the object that it creates. This is a separate function, so that
/// the stack frame of the caller never retains the object.
private func letGo<Object: AnyObject & Sendable>(of make: () async throws -> Object) async throws -> Trace<Object> {
    Trace(object: try await make())
}

private struct Trace<Object: AnyObject & Sendable>: Sendable {
    weak let object: Object?

    var isGone: Bool { object == nil }
}
