#if Tracing
public import TaskControl
internal import _TaskControlShared
public import Tracing

/// An observer that creates a span of swift-distributed-tracing for each task and each call whose beginning TaskControl
/// reports by an event, such as a task of a queue, a call of `retry`, an attempt of an HTTP request, or a flight (one
/// run of an operation that several callers share).
///
/// ```swift
/// InstrumentationSystem.bootstrap(myTracer)
/// TaskDiagnostics.install(TracingObserver())
/// ```
///
/// A span begins and ends with its subject: the task or the call. Its name is that of the primitive, such as
/// `FIFOQueue`. Its parent is the `ServiceContext.current` of the code that began the subject. The fields of the first
/// and the last event become attributes of the span, such as `taskControl.key`, after redaction. The events between
/// these two are added to the span as span events, with their fields as attributes. The attribute `taskControl.outcome`
/// is the `TaskEvent.Outcome` of the end. The status of the span is `error` if the subject failed or exceeded its time
/// limit, and was not cancelled.
///
/// Each caller that joins a flight has a separate span, `SingleFlight.joined`, with a link to the span of the flight.
/// The caller's span ends when the flight ends, or when the caller stops waiting for the flight. Its parent is usually
/// the `ServiceContext.current` of the caller. It is that of the flight's first caller if the other caller joins before
/// the observer has received the beginning of the flight: the task of the first caller then delivers both events, in
/// their order (see `TaskObserver.receive(_:)`).
///
/// ## The context of the work
/// The work of flights, queues, tasks and retries inherits `ServiceContext.current`, like every task-local, from the
/// code that started the work; for a flight, from the first caller. A span that is created within the work therefore
/// has the same parent as the span that this observer creates: the two are siblings. An observer does not run the work,
/// and so cannot set a task-local for it. To group the spans of the work below one span, open that span within the
/// work, with `withSpan`.
///
/// Subjects that began before the observer was added have no span. When the observer is deallocated after its observation has ended, it ends the
/// spans of the remaining subjects.
///
/// - Complexity: O(1) per event. Memory is needed only for the subjects that have not ended.
public final class TracingObserver: TaskObserver {
    private let state: Guarded<TracingStateMachine<any Tracing.Span>>
    private let tracer: (any Tracer)?

    /// Creates an observer. Pass it to `TaskDiagnostics.observe(_:)` or `TaskDiagnostics.install(_:)`.
    ///
    /// - Parameters:
    ///   - tracer: The tracer that creates the spans; `nil` for the tracer of `InstrumentationSystem` at the time when a span begins.
    ///   - primitives: The primitives, such as `.singleFlight`, whose tasks and calls have spans; `nil` for all.
    public init(
        tracer: (any Tracer)? = nil,
        primitives: Set<TaskEvent.Primitive>? = nil
    ) {
        state = Guarded(TracingStateMachine(primitives))
        self.tracer = tracer
    }

    deinit {
        for span in state.withLock({ $0.clear() }) { span.end() }
    }

    /// Begins a span if the event is the beginning of a task or call, ends the span if the event is the end, and
    /// otherwise adds the event to the span. Called by TaskControl.
    public func receive(_ event: TaskEvent) {
        switch state.withLock({ $0.receive(event) }) {
        case .nothing:
            break
        case .begin(let subject):
            let span = makeSpan(event.activity, event)
            state.withLock { $0.begin(subject, span) }
        case .join(let flight, let task, let flightSpan):
            let span = makeSpan(event.name, event)
            span.addLink(SpanLink(context: flightSpan.context, attributes: [:]))
            // The flight may have ended meanwhile.
            if !state.withLock({ $0.join(flight, task, span) }) { span.end() }
        case .mark(let span):
            guard span.isRecording else { break }
            span.addEvent(SpanEvent(name: event.kind.rawValue, attributes: event.attributes))
        case .leave(let span):
            end(span, event, .cancelled)
        case .end(let span, let outcome, let joiners, let joinedCount):
            if joinedCount > 0 { span.updateAttributes { $0["taskControl.joined"] = joinedCount } }
            end(span, event, outcome)
            for joiner in joiners { end(joiner, event, outcome) }
        }
    }

    /// The number of spans that have not ended.
    var count: Int { state.withLock { $0.count } }

    /// Creates a span with the given name and the fields of the given event as attributes. Its parent is the
    /// `ServiceContext.current` of the caller.
    private func makeSpan(_ name: String, _ event: TaskEvent) -> any Tracing.Span {
        let tracer = tracer ?? InstrumentationSystem.tracer
        let kind: SpanKind = event.primitive == .http ? .client : .internal
        let span: any Tracing.Span = tracer.startSpan(name, ofKind: kind)
        if span.isRecording { span.updateAttributes { $0.merge(event.attributes) } }
        return span
    }

    private func end(_ span: any Tracing.Span, _ event: TaskEvent, _ outcome: TaskEvent.Outcome) {
        if span.isRecording {
            span.updateAttributes { attributes in
                attributes.merge(event.attributes)
                attributes["taskControl.outcome"] = outcome.rawValue
            }
            // A failure after a cancellation is expected.
            if outcome == .failed || outcome == .timedOut, !event.isCancelled {
                span.setStatus(SpanStatus(code: .error, message: event.error))
            }
        }
        span.end()
    }
}

extension TaskEvent {
    fileprivate var attributes: SpanAttributes {
        var attributes: SpanAttributes = [:]
        forEachField { name, field in
            let name = "taskControl." + name
            switch field {
            case .text(let text): attributes[name] = text
            case .number(let number): attributes[name] = number
            case .duration(let duration): attributes[name] = duration / .seconds(1)
            case .flag(let flag): attributes[name] = flag
            }
        }
        return attributes
    }
}

extension TaskEvent.Primitive {
    /// The primitive of HTTP requests. It is declared again here, because this target does not depend on TaskControlHTTP.
    fileprivate static let http = Self(rawValue: "HTTP")
}
#endif
