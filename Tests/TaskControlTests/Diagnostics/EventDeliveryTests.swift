import TaskControlTesting
import TestSupport
import Testing

@_spi(Observers) @testable import TaskControl

/// The order in which events are delivered, and the observers that receive them.
@Suite(.timeLimit(.minutes(15)))
struct EventDeliveryTests {
    private let source = EventSource(TaskEvent.Primitive(rawValue: "Turnstile"), name: "north")

    private func collecting(_ body: (Collector) async throws -> Void) async rethrows {
        let number = source.number
        let collector = Collector { $0.owner == TaskEvent.Identity(number) }
        let observation = TaskDiagnostics.observe(collector)
        try await body(collector)
        observation.end()
    }

    private var subject: TaskEvent.Identity { TaskEvent.Identity(Diagnostics.nextNumber(), of: source.number) }

    @Test func eventsAboutASubjectAreHeldUntilItsBeginningIsDelivered() async throws {
        await collecting { collector in
            let subject = subject
            Diagnostics.open(subject)
            await Task { [source] in
                source.emit(.started, .entered(.running), about: subject)
                source.emit(.closed)
                source.emit(.completed, .ended(.completed), about: subject)
            }.value
            #expect(collector.events.map(\.kind) == [.closed])
            source.emitBeginning(.created, .waiting, of: subject)
            #expect(collector.events.map(\.kind) == [.closed, .created, .started, .completed])
            let sequences = collector.events.map(\.sequence)
            #expect(sequences[1] < sequences[2] && sequences[2] < sequences[0] && sequences[0] < sequences[3])
            #expect(collector.events[1].task != collector.events[2].task)
            source.emit(.joined, about: subject)
            #expect(collector.events.last?.kind == .joined)
        }
    }

    @Test func anEventThatComesWhileHeldEventsAreDeliveredComesAfterThem() async throws {
        final class Late: TaskObserver {
            let source: EventSource
            let subject: TaskEvent.Identity

            init(_ source: EventSource, _ subject: TaskEvent.Identity) {
                self.source = source
                self.subject = subject
            }

            func receive(_ event: TaskEvent) {
                guard event.subject == subject, event.kind == .started else { return }
                source.emit(.cancelled, about: subject)
            }
        }
        await collecting { collector in
            let subject = subject
            let late = TaskDiagnostics.observe(Late(source, subject))
            Diagnostics.open(subject)
            source.emit(.started, .entered(.running), about: subject)
            source.emit(.waiting, .entered(.waiting), about: subject)
            source.emitBeginning(.created, .waiting, of: subject)
            #expect(collector.events.map(\.kind) == [.created, .started, .waiting, .cancelled])
            late.end()
        }
    }

    @Test func aHeldEventGoesToThoseWhoObservedWhenItHappened() async throws {
        await collecting { collector in
            let subject = subject
            Diagnostics.open(subject)
            source.emit(.started, .entered(.running), about: subject)
            let late = Collector { $0.subject == subject }
            let observation = TaskDiagnostics.observe(late)
            source.emit(.completed, .ended(.completed), about: subject)
            source.emitBeginning(.created, .waiting, of: subject)
            #expect(collector.events.map(\.kind) == [.created, .started, .completed])
            #expect(late.events.map(\.kind) == [.completed])
            observation.end()
        }
    }

    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func anOpeningIsClosedThoughNobodyObservesAnyMore() async throws {
        await #expect(processExitsWith: .success) {
            let source = EventSource(TaskEvent.Primitive(rawValue: "Turnstile"))
            let subject = TaskEvent.Identity(1, of: source.number)
            let first = Collector { _ in true }
            let observation = TaskDiagnostics.observe(first)
            Diagnostics.open(subject)
            observation.end()
            source.emit(.started, .entered(.running), about: subject)
            source.emitBeginning(.created, .waiting, of: subject)
            precondition(first.events.isEmpty)
            precondition(Diagnostics.moment == nil)
            let second = Collector { _ in true }
            TaskDiagnostics.install(second)
            source.emit(.completed, .ended(.completed), about: subject)
            precondition(second.events.map(\.kind) == [.completed])
        }
    }
    #endif

    @Test func aCancellationHandlerMayBeginASubject() async throws {
        let (source, subject) = (source, subject)
        try await collecting { collector in
            insideHandler {
                Diagnostics.open(subject)
                source.emitBeginning(.created, .waiting, of: subject)
                source.emit(.started, .entered(.running), about: subject)
            }
            try await collector.wait { $0.count == 2 }
            #expect(collector.events.map(\.kind) == [.created, .started])
        }
    }

    @Test func theEndSaysWhetherItsTaskWasCancelledWhenItWasDecided() async throws {
        let source = source
        await collecting { collector in
            await Task {
                let moment = Diagnostics.moment
                withUnsafeCurrentTask { $0?.cancel() }
                let (first, second) = (
                    TaskEvent.Identity(1, of: source.number), TaskEvent.Identity(2, of: source.number)
                )
                source.emit(.failed, .ended(.failed), about: first, at: moment, isInside: true)
                source.emit(.failed, .ended(.failed), about: second, isInside: true)
            }.value
            #expect(collector.events.map(\.isCancelled) == [false, true])
            #expect(collector.events.map(\.outcome) == [.failed, .cancelled])
        }
    }

    @Test func anObserverDoesNotReceiveWhatItsCallCausesThroughAnother() async throws {
        struct Forwarding: TaskObserver {
            let source: EventSource
            let kind: TaskEvent.Kind
            let answer: TaskEvent.Kind
            let count: OrderRecorder<TaskEvent.Kind>

            func receive(_ event: TaskEvent) {
                guard event.owner == source.identity else { return }
                count.record(event.kind)
                if event.kind == kind { source.emit(answer) }
            }
        }
        let (first, second) = (OrderRecorder<TaskEvent.Kind>(), OrderRecorder<TaskEvent.Kind>())
        let observations = [
            TaskDiagnostics.observe(Forwarding(source: source, kind: .created, answer: .closed, count: first)),
            TaskDiagnostics.observe(Forwarding(source: source, kind: .closed, answer: .draining, count: second)),
        ]
        source.emit(.created)
        #expect(first.events == [.created])
        #expect(second.events == [.closed, .created])
        for observation in observations { observation.end() }
    }

    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func aBeginningThatWasDecidedWhileNobodyObservedIsNotReported() async throws {
        await #expect(processExitsWith: .success) {
            let source = EventSource(TaskEvent.Primitive(rawValue: "Turnstile"))
            let subject = TaskEvent.Identity(1, of: source.number)
            Diagnostics.open(subject)
            let moment = Diagnostics.moment
            precondition(moment == nil)
            let collector = Collector { _ in true }
            TaskDiagnostics.install(collector)
            source.emitBeginning(.created, .waiting, of: subject)
            source.emit(.closed, at: moment)
            source.emit(.completed, .ended(.completed), about: subject)
            precondition(collector.events.map(\.kind) == [.completed])
        }
    }
    #endif
}
