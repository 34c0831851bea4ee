internal import CTaskControl

/// How primitives tell what happens. Never called with a lock held (law 1).
///
/// The pattern of every call, in a function that is inlined: `if Diagnostics.isOn { tell… }`, with all else behind a call that is not, so
/// that nothing is built, captured or retained when nobody listens (law 14).
@usableFromInline
package enum Diagnostics {
    /// Whether anybody listens: one relaxed load.
    @inline(__always)
    package static var isOn: Bool { tc_isObserved() }

    /// A number for what has none yet, taken only when somebody listens; or for an instance, once in its life.
    package static func nextNumber() -> UInt64 { tc_nextNumber() }

    /// Who listens, and how. Replaced as a whole, so that one reference under the lock is all that an event takes.
    private final class Setup: Sendable {
        let configuration: AsyncGuardConfiguration?
        let now: (@Sendable () -> Duration)?
        let log: Listener?
        let tracker: Tracker?
        let listeners: [Listener]
        let isQuiet: Bool
        /// Who is told, in this order: the books before the others, which may ask for a snapshot.
        let everybody: [Listener]

        init(
            _ configuration: AsyncGuardConfiguration? = nil,
            now: (@Sendable () -> Duration)? = nil,
            log: Listener? = nil,
            tracker: Tracker? = nil,
            listeners: [Listener] = [],
            isQuiet: Bool = false
        ) {
            self.configuration = configuration
            self.now = now
            self.log = log
            self.tracker = tracker
            self.listeners = listeners
            self.isQuiet = isQuiet
            everybody = (tracker.map { [$0.listener] } ?? []) + (log.map { [$0] } ?? []) + listeners
        }

        func with(listeners: [Listener]? = nil, isQuiet: Bool? = nil) -> Setup {
            Setup(
                configuration,
                now: now,
                log: log,
                tracker: tracker,
                listeners: listeners ?? self.listeners,
                isQuiet: isQuiet ?? self.isQuiet
            )
        }
    }

    private struct Tracker: Sendable {
        let books = TaskTracker()
        let listener: Listener

        init() { listener = Listener(books) }
    }

    fileprivate final class Listener: Sendable {
        let number: UInt64
        let observer: any TaskObserver
        let echo: Echo

        init(_ observer: any TaskObserver) {
            number = nextNumber()
            self.observer = observer
            echo = Echo([number])
        }
    }

    /// Whose calls the code that runs was caused by: they are not told of it. `nil`: those of all of them, and of the redaction.
    @usableFromInline
    final class Echo: Sendable {
        private let numbers: [UInt64]?

        fileprivate init(_ numbers: [UInt64]?) {
            self.numbers = numbers
        }

        fileprivate func reaches(_ listener: Listener) -> Bool { numbers?.contains(listener.number) ?? true }

        fileprivate func joined(by listener: Listener) -> Echo { Echo(numbers.map { $0 + [listener.number] }) }

        fileprivate static let everybody = Echo(nil)
    }

    /// Of a task that was made within a call of an observer, and of those that stem from that.
    @TaskLocal private static var inheritedEcho: Echo?

    /// Of what happens within a call of an observer. A task-local would serve too, and costs more than all the rest of an event.
    static var echo: Echo? { isOn ? echoHere ?? inheritedEcho : nil }

    /// Runs `body` as if the calls of these observers had caused it; `nil`: as if none had.
    static func within(_ echo: Echo?, _ body: () -> Void) {
        guard let echo else { return body() }
        let outer = tc_echo()
        withExtendedLifetime(echo) {
            tc_setEcho(Unmanaged.passUnretained(echo).toOpaque())
            body()
            tc_setEcho(outer)
        }
    }

    /// Of what happens within a call of an observer, by this thread alone: what a task that is made here is to bring along.
    @usableFromInline static var echoHere: Echo? {
        isOn ? tc_echo().map { Unmanaged<Echo>.fromOpaque($0).takeUnretainedValue() } : nil
    }

    @usableFromInline static var inherited: TaskLocal<Echo?> { $inheritedEcho }

    private static let setup = Locked(Setup())
    private static let origin = ContinuousClock.now

    // MARK: Telling

    /// Tells those who listen.
    ///
    /// - Parameter isInside: Whether it happens in the task that it is about, which then has the name.
    @inline(never)
    package static func tell(_ event: consuming TaskEvent, isInside: Bool = false) {
        let setup = setup.withLock { $0 }
        let echo = echo
        // Nobody is left to be told; in a redaction, which is not to be asked of its own events, nobody ever is.
        if let echo, setup.everybody.allSatisfy(echo.reaches) { return }
        if isInside, event.taskName == nil { event.taskName = currentTaskName }
        event.task = .current
        event.time = now(setup)
        if let begun = event.age { event.age = event.time - begun }
        if let redact = setup.configuration?.redact {
            within(.everybody) { event.redactText(redact) }
        }
        let finished = event
        // The runtime holds a lock of its task there, and observers may do anything.
        if isInsideHandler { return performOutsideHandler { hand(finished, setup, echo) } }
        hand(finished, setup, echo)
    }

    private static func hand(_ event: TaskEvent, _ setup: Setup, _ echo: Echo?) {
        for listener in setup.everybody { hand(event, to: listener, echo) }
    }

    private static func hand(_ event: TaskEvent, to listener: Listener, _ echo: Echo?) {
        if let echo, echo.reaches(listener) { return }
        within(echo?.joined(by: listener) ?? listener.echo) { listener.observer.receive(event) }
    }

    /// For an age at the end; `nil` if nobody listens.
    @inline(__always)
    package static var moment: TaskEvent.Moment? { isOn ? noted() : nil }

    @inline(never)
    private static func noted() -> TaskEvent.Moment { TaskEvent.Moment(time: now) }

    /// The time of an event that happens now.
    static var now: Duration { now(setup.withLock { $0 }) }

    private static func now(_ setup: Setup) -> Duration {
        guard let now = setup.now else {
            let origin = origin
            return ContinuousClock.now - origin
        }
        var time = Duration.zero
        within(.everybody) { time = now() }
        return time
    }

    /// Emits an incident. A mistake is also written to the system's log, in every build, unless the configuration turns that off or has a log
    /// of its own that shows it.
    static func report(_ incident: TaskIncident, taskName: @autoclosure () -> String? = nil) {
        if isOn {
            var event = incident.event
            event.taskName = taskName()
            tell(event)
        }
        guard incident.isMistake else { return }
        let setup = setup.withLock { $0 }
        guard !setup.isQuiet, setup.log == nil, setup.configuration?.reportsMistakes ?? true else { return }
        let redact = setup.configuration?.redact ?? { $0 }
        within(.everybody) {
            let error = incident.error.map { redact(text(of: $0)) }
            SystemLog.report(incident.text, error: error, taskName: taskName().map(redact))
        }
    }

    static func snapshot() -> TaskSnapshot {
        let setup = setup.withLock { $0 }
        return setup.tracker?.books.snapshot(at: now(setup)) ?? .untracked
    }

    // MARK: Listening

    static func configure(_ configuration: AsyncGuardConfiguration) {
        let log = configuration.debugLogging ? Listener(configuration.log) : nil
        let isDefault = configuration.clock is ContinuousClock
        let now = isDefault ? nil : timekeeper(configuration.clock)
        let fresh = configuration.tracking ? Tracker() : nil
        replace { old in
            // What is known stays known, if it is of the same time, and has the same taken out.
            let isAlike =
                now == nil && old.now == nil
                && (configuration.redact == nil) == (old.configuration?.redact == nil)
            let tracker = isAlike && configuration.tracking ? old.tracker ?? fresh : fresh
            return Setup(
                configuration,
                now: now,
                log: log,
                tracker: tracker,
                listeners: old.listeners,
                isQuiet: old.isQuiet
            )
        }
    }

    private static func timekeeper<C: Clock>(_ clock: C) -> @Sendable () -> Duration where C.Duration == Duration {
        let origin = clock.now
        return { origin.duration(to: clock.now) }
    }

    static func addObserver(_ observer: any TaskObserver) -> UInt64 {
        let listener = Listener(observer)
        replaceListeners { $0 + [listener] }
        return listener.number
    }

    static func removeObserver(_ number: UInt64) {
        replaceListeners { $0.filter { $0.number != number } }
    }

    /// For the tests, which make mistakes on purpose.
    static func keepQuiet() {
        replace { $0.with(isQuiet: true) }
    }

    private static func replaceListeners(_ change: ([Listener]) -> [Listener]) {
        replace { $0.with(listeners: change($0.listeners)) }
    }

    private static func replace(_ change: (Setup) -> Setup) {
        // What is let go of, observers among it, is let go of without the lock.
        let old = setup.withLock { setup in
            let old = setup
            setup = change(old)
            // In the lock, so that the last word is that of the last to come.
            tc_setObserved(!setup.everybody.isEmpty)
            return old
        }
        withExtendedLifetime(old) {}
    }

    // MARK: Words

    /// The name of the task that asks, where the platform lets it be read.
    package static var currentTaskName: String? {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { Task.name } else { nil }
    }

    /// An error in words. Of one of Foundation's, type and code: its own words tell all that it carries, as the URL of a request; and so for a
    /// decoder's, which shows what it read. One that carries others is told by its type and those.
    package static func text(of error: any Error) -> String {
        if let error = error as? any EventDescribable { return error.eventText }
        let (type, domain, mirror) = (type(of: error), error._domain, Mirror(reflecting: error))
        if error is DecodingError || error is EncodingError {
            return "\(type).\(mirror.children.first?.label ?? "error")"
        }
        guard domain == String(reflecting: type) else { return "\(type)(\(domain) \(error._code))" }
        let carried = errors(within: mirror, depth: 3)
        return carried.isEmpty ? String(describing: error) : "\(type)(\(carried.joined(separator: ", ")))"
    }

    /// The errors that another one carries, in words.
    private static func errors(within mirror: Mirror, depth: Int) -> [String] {
        guard depth > 0 else { return [] }
        return mirror.children.flatMap { child in
            if let error = child.value as? any Error { return [text(of: error)] }
            return errors(within: Mirror(reflecting: child.value), depth: depth - 1)
        }
    }
}

/// An error that says less in an event than elsewhere.
package protocol EventDescribable: Error {
    var eventText: String { get }
}

extension TaskEvent {
    fileprivate mutating func redactText(_ redact: (String) -> String) {
        ownerName = ownerName.map(redact)
        taskName = taskName.map(redact)
        key = key.map(redact)
        error = error.map(redact)
        detail = detail.map(redact)
    }
}
