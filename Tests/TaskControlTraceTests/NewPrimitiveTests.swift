import TaskControlSnapshot
import TaskControlTesting
import TaskControlTrace
import TestSupport
import Testing

@_spi(Observers) @testable import TaskControl

/// A primitive of this test alone. Its events are counted, drawn and tracked like those of the library, which does not know it.
private final class Turnstile: Sendable {
    private let source = EventSource(.turnstile, name: "north")
    private let isOpen = Locked(true)

    init() {
        source.emit(.created)
    }

    deinit {
        source.emit(.deallocated)
    }

    func pass<Value>(_ visitor: String, _ body: () throws -> Value) rethrows -> Value {
        let subject = TaskEvent.Identity(Diagnostics.nextNumber())
        Diagnostics.open(subject)
        isOpen.withLock { $0 = false }
        source.emitBeginning(.arrived, .running, of: subject, key: visitor)
        defer {
            let moment = Diagnostics.moment
            isOpen.withLock { $0 = true }
            source.emit(.departed, .ended(.completed), about: subject, at: moment)
        }
        return try body()
    }
}

extension TaskEvent.Primitive {
    fileprivate static var turnstile: Self { Self("Turnstile", [.call, .line]) }
}

extension TaskEvent.Kind {
    fileprivate static var arrived: Self { Self("arrived") }
    fileprivate static var departed: Self { Self("departed") }
}

@Suite(.timeLimit(.minutes(15)))
struct NewPrimitiveTests {
    @Test func aNewPrimitiveIsTrackedAndDrawnWithoutAnEditInDiagnostics() async throws {
        let (recorder, tracker) = (TraceRecorder(), TaskTracker())
        let log = Collector { $0.primitive == .turnstile }
        let observations = [recorder, tracker, log].map { (observer: any TaskObserver) in
            TaskDiagnostics.observe(observer)
        }
        var turnstile: Turnstile? = Turnstile()
        turnstile?.pass("visitor 7") {
            let owner = tracker.snapshot().owners.first { $0.primitive == .turnstile }
            #expect(owner?.name == "north")
            #expect(owner?.entries.map(\.key) == ["visitor 7"])
            #expect(owner?.entries.map(\.phase) == [.running])
        }
        turnstile = nil
        for observation in observations { observation.end() }
        #expect(
            log.events.lines == [
                "Turnstile.created name=north", "Turnstile.arrived name=north key=visitor 7",
                "Turnstile.departed name=north", "Turnstile.deallocated name=north",
            ]
        )
        #expect(!tracker.snapshot().owners.contains { $0.primitive == .turnstile })
        let trace = recorder.text(as: .perfetto)
        #expect(trace.contains(#""Turnstile"#) && trace.contains("visitor 7"))
    }
}
