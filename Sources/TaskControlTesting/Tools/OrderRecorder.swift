internal import TaskControl

/// A recorder of events from any task or thread, in the order in which they happen.
///
/// ```swift
/// let recorder = OrderRecorder<String>()
/// Task { recorder.record("started"); await work(); recorder.record("ended") }
/// try await recorder.waitForEvents(count: 2)
/// try recorder.checkOrder(["started", "ended"])
/// ```
///
/// To force an order of points in several tasks, wait at each point until the earlier ones are recorded:
///
/// ```swift
/// let order = OrderRecorder<String>()
/// async let writer: Void = {
///     register.write(1)
///     order.record("written")
///     try await order.waitForEvents(count: 2)
///     register.write(2)
/// }()
/// try await order.waitForEvents(count: 1)
/// let value = register.read()                   // 1, on every machine
/// order.record("read")
/// try await writer
/// ```
public final class OrderRecorder<Event: Sendable>: Sendable {
    private let state = Locked<[Event]>([])
    /// The number of events. It is increased after an event was added, so that a resumed waiter always finds the event.
    private let level = Level(0)

    /// Creates an empty recorder.
    public init() {}

    /// Adds an event after all others. Never suspends.
    ///
    /// ## Ordering
    /// If one call of this function has returned before another one begins, the event of the first call comes first.
    public func record(_ event: Event) {
        let count = state.withLock { events in
            events.append(event)
            return events.count
        }
        level.move { $0 = max($0, count) }
    }

    /// The events recorded so far, the oldest first.
    public var events: [Event] { state.withLock { $0 } }

    /// The number of events recorded so far.
    public var count: Int { state.withLock(\.count) }

    /// Waits until at least the given number of events have been recorded.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, this function throws at once. If the caller was cancelled before the call, this
    /// function throws, even if enough events have been recorded.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled.
    public func waitForEvents(count: Int) async throws(CancellationError) {
        try await level.wait(for: count)
    }
}

extension OrderRecorder where Event: Equatable {
    /// Returns whether both events have been recorded, and the first occurrence of `earlier` comes before the first
    /// occurrence of `later`.
    ///
    /// - Complexity: O(*n*) in the number of events.
    public func happened(_ earlier: Event, before later: Event) -> Bool {
        let events = events
        guard let one = events.firstIndex(of: earlier), let other = events.firstIndex(of: later) else { return false }
        return one < other
    }

    /// Throws an error unless exactly the given events have been recorded, in the given order.
    ///
    /// - Parameters:
    ///   - expected: All events that must have been recorded, the oldest first.
    ///   - fileID: The file of the call, shown in the error.
    ///   - filePath: The path of that file, shown in the error.
    ///   - line: The line of the call, shown in the error.
    ///   - column: The column of the call, shown in the error.
    /// - Throws: An error whose description shows the expected events, the recorded events, and the first difference.
    /// - Complexity: O(*n*) in the number of events.
    public func checkOrder(
        _ expected: [Event],
        fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line,
        column: Int = #column
    ) throws {
        let events = events
        guard events != expected else { return }
        let common = zip(events, expected).prefix { $0 == $1 }.count
        throw UnexpectedOrderError(
            expected: expected.map { "\($0)" },
            events: events.map { "\($0)" },
            firstDifference: common,
            location: Simulation.Location(fileID: fileID, filePath: filePath, line: line, column: column)
        )
    }
}

/// The error that ``OrderRecorder/checkOrder(_:fileID:filePath:line:column:)`` throws if the recorded events are not the expected ones.
///
/// ```text
/// /tests/StoreTests.swift:12:18: events came in another order than expected
///   expected: written, read, closed
///   came:     written, closed
///   at 1:     expected read, came closed
/// ```
package struct UnexpectedOrderError: Error, Hashable, CustomStringConvertible {
    /// The descriptions of the events that were expected.
    package let expected: [String]
    /// The descriptions of the recorded events.
    package let events: [String]
    /// The first index at which the expected and the recorded events differ. If the longer list begins with the shorter one, this is the
    /// length of the shorter list.
    package let firstDifference: Int
    /// The location of the call of ``OrderRecorder/checkOrder(_:fileID:filePath:line:column:)``.
    package let location: Simulation.Location

    /// Several lines with the location of the check, the expected events, the recorded events, and the first difference.
    package var description: String {
        func event(in events: [String]) -> String {
            events.indices.contains(firstDifference) ? events[firstDifference] : "nothing"
        }
        func list(_ events: [String]) -> String { events.isEmpty ? "nothing" : events.joined(separator: ", ") }
        return """
            \(location): events came in another order than expected
              expected: \(list(expected))
              came:     \(list(events))
              at \(firstDifference):     expected \(event(in: expected)), came \(event(in: events))
            """
    }
}
