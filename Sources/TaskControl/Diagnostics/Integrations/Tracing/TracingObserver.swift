#if Tracing
public import Tracing

/// Makes a span of swift-distributed-tracing of each task and call of this library: a flight, a task of a queue, a retry, an HTTP attempt.
///
/// ```swift
/// InstrumentationSystem.bootstrap(myTracer)
/// AsyncGuard.addObserver(TracingObserver())
/// ```
///
/// A span begins and ends with its subject, and is named after the primitive. Its parent is the `ServiceContext.current` of whoever began it.
/// What happens on the way is an event of the span, and what events hold are its attributes, as `taskControl.key`: after redaction. It has the
/// status `error` if the subject failed, gave up, or met its limit, and was not cancelled.
///
/// A caller that joins a flight has a span of its own, `SingleFlight.joined`, with a link to that of the flight: it ends with the flight, or when
/// the caller leaves.
///
/// ## What the work sees
/// `ServiceContext.current`, like every task-local, reaches the work of flights, queues, tasks and retries as it was where that was started; in
/// a flight, as its first caller had it. So a span that is made within the work has the same parent as the span that is made here: it is a
/// sibling, not a child. An observer hears of work, and does not run it; nothing that is done in ``receive(_:)`` can be a task-local of the
/// work. Where spans of the work are to be below one, open it there, with `withSpan`.
///
/// What was there before this observer has no span. When its observation ends, the spans of what is still there end too.
///
/// - Complexity: O(1) an event, and memory for what is there, nothing else.
public final class TracingObserver: TaskObserver {
    private let state: Locked<TracingStateMachine<any Tracing.Span>>
    private let tracer: (any Tracer)?

    /// Makes an observer, for ``AsyncGuard/addObserver(_:)``.
    ///
    /// - Parameters:
    ///   - tracer: What makes the spans. `nil`: the tracer of swift-distributed-tracing's system, as it is when a span begins.
    ///   - primitives: What spans are made for.
    public init(
        tracer: (any Tracer)? = nil,
        primitives: Set<TaskEvent.Primitive> = Set(TaskEvent.Primitive.allCases)
    ) {
        state = Locked(TracingStateMachine(primitives))
        self.tracer = tracer
    }

    deinit {
        for span in state.withLock({ $0.clear() }) { span.end() }
    }

    /// Begins, marks or ends a span.
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
            end(span, event)
        case .end(let span, let joiners, let joinedCount):
            if joinedCount > 0 { span.updateAttributes { $0["taskControl.joined"] = joinedCount } }
            end(span, event)
            for joiner in joiners { end(joiner, event) }
        }
    }

    /// How many spans have not ended.
    var count: Int { state.withLock { $0.count } }

    /// The parent is the context of the code that runs now: of whoever begins the subject.
    private func makeSpan(_ name: String, _ event: TaskEvent) -> any Tracing.Span {
        let tracer = tracer ?? InstrumentationSystem.tracer
        let kind: SpanKind = event.primitive == .http ? .client : .internal
        let span: any Tracing.Span = tracer.startSpan(name, ofKind: kind)
        if span.isRecording { span.updateAttributes { $0.merge(event.attributes) } }
        return span
    }

    private func end(_ span: any Tracing.Span, _ event: TaskEvent) {
        if span.isRecording {
            span.updateAttributes { attributes in
                attributes.merge(event.attributes)
                attributes["taskControl.outcome"] = event.kind.rawValue
            }
            if event.isFailure { span.setStatus(SpanStatus(code: .error, message: event.error)) }
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

    /// Whether a subject has ended badly. What fails after its cancellation does what it was asked for.
    fileprivate var isFailure: Bool {
        switch kind {
        case .failed, .gaveUp, .timedOut: !isCancelled
        default: false
        }
    }
}
#endif
