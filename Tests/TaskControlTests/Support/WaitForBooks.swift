import TaskControlTesting
import TestSupport

@testable import TaskControl

/// Waits until nothing is missing in the books of a primitive: looks now, and again when the primitive has told enough. For what stands in
/// the books when it is told.
///
/// - Parameters:
///   - number: What events know the primitive by.
///   - missing: How many things are still to be told of, at least.
func wait(forBooksOf number: UInt64, missing: () -> Int) async throws {
    let told = OrderRecorder<Void>()
    let listener = Collector { event in
        if event.owner == TaskEvent.Identity(number) { told.record(()) }
        return false
    }
    _ = Incidents.shared
    let observation = TaskDiagnostics.observe(listener)
    defer { observation.end() }
    var heard = told.count
    while case let count = missing(), count > 0 {
        try await told.waitForEvents(count: heard + count)
        heard = told.count
    }
}
