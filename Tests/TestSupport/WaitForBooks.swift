import TaskControl
import TaskControlTesting

/// Waits until nothing is missing in the books of a primitive: looks now, and again when the primitive has emitted enough events. For entries that
/// are in the books when their event is emitted.
///
/// - Parameters:
///   - number: The number of the primitive in events.
///   - missing: The least number of events that are still missing.
package func wait(forBooksOf number: UInt64, missing: () -> Int) async throws {
    let told = OrderRecorder<Void>()
    let listener = Collector { event in
        if event.owner == TaskEvent.Identity(number) { told.record(()) }
        return false
    }
    Diagnostics.keepQuiet()
    let observation = TaskDiagnostics.observe(listener)
    defer { observation.end() }
    var heard = told.count
    while case let count = missing(), count > 0 {
        try await told.waitForEvents(count: heard + count)
        heard = told.count
    }
}
