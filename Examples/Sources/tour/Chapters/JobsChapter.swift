import Foundation
import TaskControl
import TaskControlCalendar
import TaskControlFleet
import TaskControlTesting

/// Jobs that take a while: an export that a client asks for, a poll of a screen that closes, a report that one of five machines writes at night, uploads
/// with a row each, saves after a pause, and a form that a server refuses.
struct JobsChapter: Chapter {
    let name = "jobs"
    let title = "A job takes a while"

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let (naive, polled) = (try await Self.export(Exports.waitNaively), try await Self.export(Exports.wait))
        let (endless, limited) = try await Self.exportThatIsNeverDone()
        let kept = try await Self.isKept { $0.startNaively($1, asked: $2) }
        let released = try await Self.isKept { $0.start($1, asked: $2) }
        let (each, once) = try await Self.nights()
        let (timer, calendar) = Self.changeOfClocks()
        let unlimited = try await Self.uploads(NaiveUploadRows.self, atOnce: 12)
        let limitedUploads = try await Self.uploads(LimitedUploadRows.self, atOnce: 4)
        let (impatient, patient) = (
            try await Self.autosave(NaiveAutosave.self), try await Self.autosave(PatientAutosave.self)
        )
        let form = RefusedForm()
        let (unknown, fields, text) = await (form.fieldsNaively(), form.fields(), form.text())
        Progress(chapter: name, act: "jobs").finish("\(naive.requests + polled.requests) requests")
        return Report(
            naive: [
                "\(naive.requests) requests for an export of a minute",
                "\(each) reports of five machines",
                "the job of 02:00 begins at \(timer)",
                "\(unlimited.mostOpen) uploads at once",
                "\(unlimited.stale) rows stay \"sending\"",
                "\(impatient.interrupted) save interrupted",
            ],
            taskControl: [
                "\(polled.requests) requests for an export of a minute",
                "\(once) report of five machines",
                "the job of 02:00 begins at \(calendar)",
                "\(limitedUploads.mostOpen) uploads at once",
                "\(limitedUploads.stale) rows stay \"sending\"",
                "\(patient.interrupted) saves interrupted",
            ],
            claims: [
                Claim("naive: a request that fails ends the poll", naive.survivesAnError, is: false),
                Claim("poll: a request that fails is followed by another one", polled.survivesAnError, is: true),
                Claim(
                    "poll: it sends fewer requests than one per second",
                    holds: polled.requests < naive.requests / 4,
                    measured: "\(polled.requests) and \(naive.requests)"
                ),
                Claim("naive: after a minute it still asks for an export that is never done", endless, is: 61),
                Claim("poll: it ends at its limit, with the last state", limited, is: "running, after 6 calls"),
                Claim("naive: the screen is kept while its poll waits", kept, is: true),
                Claim("every(for:): the screen is deallocated at once", released, is: false),
                Claim("naive: each machine writes the report", each, is: 5),
                Claim("runOnce: one machine writes it, though the first one crashes", once, is: 1),
                Claim("naive: a timer of 24 hours is wrong on the day on which clocks change", timer, is: "03:00"),
                Claim("every(.day(at:)): the time is that of the clock", calendar, is: "02:00"),
                Claim("naive: all uploads run at once", unlimited.mostOpen, is: 12),
                Claim("maxConcurrentTasks: four uploads run at once", limitedUploads.mostOpen, is: 4),
                Claim("naive: the rows of cancelled uploads stay \"sending\"", unlimited.stale, is: 3),
                Claim("onEnd: each row says how its upload has ended", limitedUploads.stale, is: 0),
                Claim("naive: a new draft interrupts the save that runs", impatient.written, is: [2]),
                Claim("debounce(then: .keepLatest): no save is interrupted", patient.written, is: [1, 2]),
                Claim("naive: a form that a server refuses does not know the wrong fields", unknown, is: []),
                Claim("EndpointError.decode: it knows them", fields, is: ["title", "year"]),
                Claim(
                    "EndpointError: a log shows them too, and no token",
                    holds: text.contains("year") && !text.contains("hush"),
                    measured: text
                ),
            ]
        )
    }

    struct Export: Sendable {
        let requests: Int
        let survivesAnError: Bool
    }

    /// Waits for an export of a minute, once without and once with a request that fails.
    static func export(_ wait: (ExportServer, TestClock) async throws -> Void) async throws -> Export {
        let clock = TestClock(advancesAutomatically: true)
        let server = ExportServer(clock, end: .seconds(60))
        try await wait(server, clock)
        let second = TestClock(advancesAutomatically: true)
        let survives: Bool
        do {
            try await wait(ExportServer(second, end: .seconds(60), failing: 3), second)
            survives = true
        } catch is ExportServer.Unavailable {
            survives = false
        }
        return Export(requests: server.requests.value, survivesAnError: survives)
    }

    /// Asks for an export that is never done: the number of requests of the loop after a minute, and the end of the poll.
    static func exportThatIsNeverDone() async throws -> (endless: Int, limited: String) {
        let clock = TestClock()
        let server = ExportServer(clock, end: nil)
        let loop = Task { try await Exports.waitNaively(for: server, clock) }
        await clock.advance(by: .seconds(60), waking: 60)
        try await server.requests.expect("the request of the last second") { $0 == 61 }
        loop.cancel()
        _ = await loop.result

        let (limit, other) = (TestClock(), TestClock())
        let never = ExportServer(other, end: nil)
        let polling = Task {
            try await poll(every: .fixed(.seconds(10)), within: .seconds(60), clock: limit) {
                try await never.state()
            } until: {
                $0 == .done
            }
        }
        await limit.advance(by: .seconds(50), waking: 5)
        do {
            _ = try await polling.value
            return (server.requests.value, "done")
        } catch let error as PollTimeoutError {
            let state = error.lastValue as? ExportServer.State ?? .done
            return (server.requests.value, "\(state), after \(error.calls) calls")
        }
    }

    /// Whether a screen exists while its poll waits for a server, after all other references to it were released.
    @MainActor
    static func isKept(_ start: (PollingScreen, Gate, Gate) -> Void) async throws -> Bool {
        let (answer, asked) = (Gate(), Gate())
        var screen: PollingScreen? = PollingScreen()
        weak let released = screen
        if let screen { start(screen, answer, asked) }
        try await asked.wait()
        screen = nil
        defer { answer.open() }
        return released != nil
    }

    /// The number of reports that five machines write for one night.
    static func nights() async throws -> (naive: Int, once: Int) {
        let (naive, once, store) = (Observed(0), Observed(0), MemoryStore())
        for _ in 0..<5 { try await ReportMachine(store: store, reports: naive).writeNaively() }
        for number in 0..<5 {
            do {
                try await ReportMachine(store: store, reports: once, crashes: number == 0).writeOnce()
            } catch is ReportMachine.Crash {}
        }
        return (naive.value, once.value)
    }

    /// The local times at which a job of 02:00 begins in Berlin, on the day after clocks were set forward, with a timer and with a schedule.
    static func changeOfClocks() -> (timer: String, calendar: String) {
        let berlin = TimeZone(identifier: "Europe/Berlin") ?? .gmt
        let schedule = CalendarSchedule.day(at: "02:00", in: berlin)
        // 02:00 on March 28, 2026; clocks are set forward on March 29.
        let first = Date(timeIntervalSince1970: 1_774_659_600)
        let timer = first.addingTimeInterval(2 * 86_400)
        let planned = schedule.next(after: first.addingTimeInterval(86_400)) ?? first
        return (text(timer, berlin), text(planned, berlin))
    }

    private static func text(_ date: Date, _ zone: TimeZone) -> String {
        let seconds = Int(date.timeIntervalSince1970) + zone.secondsFromGMT(for: date)
        let minutes = seconds / 60 % 1_440
        return "\(minutes / 60 < 10 ? "0" : "")\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60)"
    }
}
