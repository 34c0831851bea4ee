#if Tracing
public import TaskControl
internal import TaskControlSupport
public import Tracing

/// Creates a span of swift-distributed-tracing for each task and call: a flight, a task of a queue, a retry, an HTTP attempt.
///
/// ```swift
/// InstrumentationSystem.bootstrap(myTracer)
/// TaskDiagnostics.install(TracingObserver())
/// ```
///
/// A span begins and ends with its subject, the task or call, and is named after the primitive. Its parent is the `ServiceContext.current` of
/// the code that began the subject. Events between the beginning and the end are events of the span, and the fields of all events are attributes
/// such as `taskControl.key`, after redaction. `taskControl.outcome` is the `TaskEvent.Outcome` of the end. The status is `error` if the subject
/// failed or exceeded its time limit, and was not cancelled.
///
/// A caller that joins a flight has a span of its own, `SingleFlight.joined`, with a link to the span of the flight: it ends with the flight, or
/// when the caller leaves. Its parent is the context of the caller. If the caller joined before the beginning of the flight was delivered, the
/// parent is the context of the first caller, which delivers both events: see `TaskObserver.receive(_:)`.
///
/// ## The context of the work
/// `ServiceContext.current`, like every task-local, reaches the work of flights, queues, tasks and retries as it was where they were started; in
/// a flight, as its first caller had it. So a span that is created within the work has the same parent as the span that is created here: it is
/// a sibling, not a child. An observer does not run the work, so nothing that it does can be a task-local of the work. To have the spans of the
/// work below one span, open that span within the work, with `withSpan`.
///
/// Subjects that began before the observer was added have no span. When the observer is deallocated after its observation, it ends the
/// spans of the remaining subjects.
///
/// - Complexity: O(1) per event, and memory only for the subjects that have not ended.
public final class TracingObserver: TaskObserver {
    private let state: Guarded<TracingStateMachine<any Tracing.Span>>
    private let tracer: (any Tracer)?

    /// Creates an observer, for `TaskDiagnostics.observe(_:)`.
    ///
    /// - Parameters:
    ///   - tracer: Creates the spans. `nil`: the tracer of `InstrumentationSystem` at the time when a span begins.
    ///   - primitives: The primitives whose subjects have spans. `nil`: all.
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

    /// Begins a span, adds an event to it, or ends it. Called by the library.
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

    /// Creates a span whose parent is the context of the code that runs now.
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
    /// Declared by TaskControlHTTP, which this target does not need.
    fileprivate static let http = Self(rawValue: "HTTP")
}
#endif
