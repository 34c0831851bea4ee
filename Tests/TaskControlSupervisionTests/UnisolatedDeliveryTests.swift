import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Periodic work and connections whose results a closure without an isolation receives, although the call was made on the main actor.
@Suite(.timeLimit(.minutes(15)))
struct UnisolatedDeliveryTests {
    private final class Reports: TaskObserver {
        let texts = Locked<[String]>([])

        func receive(_ event: TaskEvent) {
            if event.kind == .deliveredAnywhere { texts.withLock { $0.append(event.detail ?? "") } }
        }
    }

    private final class Screen: Sendable {
        let lifetime = AsyncLifetime()

        func begin() {
            lifetime.every(.seconds(1_000), for: self) {
                1
            } deliver: { _, _ in
            }
            lifetime.keepRunning("prices", for: self) {
                AsyncStream<Int> { _ in }
            } deliver: { _, _ in
            }
        }

        func beginIsolated() {
            lifetime.every(.seconds(1_000), for: self) {
                1
            } deliver: { @MainActor _, _ in
            }
            lifetime.keepRunning("prices", for: self) {
                AsyncStream<Int> { _ in }
            } deliver: { @MainActor _, _ in
            }
        }
    }

    @Test @MainActor func eachFormReportsItOncePerTypeUnlessTheClosureStatesItsIsolation() {
        let (reports, screen) = (Reports(), Screen())
        let observation = TaskDiagnostics.observe(reports)
        screen.beginIsolated()
        #expect(!reports.texts.withLock { $0 }.contains { $0.contains("Screen") })
        for _ in 0..<2 { screen.begin() }
        observation.end()
        screen.lifetime.close()
        let texts = reports.texts.withLock { $0 }.filter { $0.contains("Screen") }
        #expect(texts == ["AsyncLifetime.every(for: Screen)", "AsyncLifetime.keepRunning(for: Screen)"])
    }
}
