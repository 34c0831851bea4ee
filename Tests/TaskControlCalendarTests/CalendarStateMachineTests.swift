import Foundation
import TestSupport
import Testing

@testable import TaskControlCalendar

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct CalendarStateMachineTests {
    /// Seconds by which the wall clock moves between two looks: it runs, the device sleeps, or the clock is set.
    private static let moves = [30, 60, 1_800, 3_600, 86_400, -30, -1_800, -3_600, -4 * 3_600, -86_400]

    /// All short sequences of moves of the wall clock, beside a model: the schedule of each full hour is that of the multiples of 3,600.
    @Test(arguments: MissedTicks.allCases)
    func eachTimeBeginsOnceWhateverTheClockDoes(_ missed: MissedTicks) {
        struct Run {
            var machine: CalendarStateMachine
            var now: Int
            /// The model's last time that is handled, and its last reading of the clock.
            var handled: Int
            var reading: Int
        }
        let start = 1_000_000 * 3_600 - 45
        let schedule = CalendarSchedule.hour(atMinutes: [0], in: .gmt)
        var runs = [
            Run(
                machine: CalendarStateMachine(schedule, missed: missed, start: UnixTime(seconds: start)),
                now: start,
                handled: start,
                reading: start
            )
        ]
        for _ in 0..<fullSize(5, inDebug: 3) {
            runs = runs.flatMap { run in
                Self.moves.map { move in
                    var run = run
                    run.now += move
                    if run.reading - run.now > 3 * 3_600 { run.handled = run.now }
                    run.reading = run.now
                    let last = run.now / 3_600 * 3_600
                    let first = missed == .all ? run.handled / 3_600 * 3_600 + 3_600 : last
                    let times = last > run.handled ? Array(stride(from: first, through: last, by: 3_600)) : []
                    run.handled = max(run.handled, last)
                    var steps: [CalendarStateMachine.Step] = []
                    for time in times where !(run.now - time > 60 && missed == .skip) {
                        steps.append(.begin(UnixTime(seconds: time), isLate: run.now - time > 60))
                    }
                    // The work has ended: the same time does not begin again.
                    let next = max(run.handled, run.now) / 3_600 * 3_600 + 3_600
                    steps.append(.sleep(until: UnixTime(seconds: min(next, run.now + 60))))
                    let taken = steps.map { _ in run.machine.look(at: UnixTime(seconds: run.now)) }
                    if taken != steps { Issue.record("\(taken), and not \(steps)") }
                    return run
                }
            }
        }
    }

    @Test func aClockThatWasWrongAtTheStartIsForgottenWhenItIsCorrected() {
        let schedule = CalendarSchedule.day(at: "02:00", in: .gmt)
        let wrong = UnixTime(Zones.date("2036-01-01T00:00:00Z"))
        var machine = CalendarStateMachine(schedule, missed: .once, start: wrong)
        let right = UnixTime(Zones.date("2026-01-01T01:59:59Z"))
        #expect(machine.look(at: right) == .sleep(until: right + 1))
        #expect(machine.look(at: right + 1) == .begin(right + 1, isLate: false))
    }

    @Test func twoCorrectionsOfTheClockRepeatNoTime() {
        let schedule = CalendarSchedule.day(at: "02:00", in: .gmt)
        let midnight = UnixTime(Zones.date("2026-01-01T00:00:00Z"))
        var machine = CalendarStateMachine(schedule, missed: .once, start: midnight)
        #expect(machine.look(at: midnight + 7_200) == .begin(midnight + 7_200, isLate: false))
        // At 02:30 back to 00:30, and at 01:00 back to 23:00.
        for time in [9_000, 1_800, 3_600, -3_600, 0, 7_200] {
            let now = midnight + time
            #expect(machine.look(at: now) == .sleep(until: now + 60), "at \(time)")
        }
    }

    @Test func aScheduleWithoutTimesSleeps() {
        let start = UnixTime(seconds: 0)
        var machine = CalendarStateMachine(.hour(atMinutes: [], in: .gmt), missed: .once, start: start)
        #expect(machine.look(at: start) == .sleep(until: start + 60))
    }

    /// Ten years in each zone, on a device that is suspended most of the time: each day runs once, on time if the device is awake, and late otherwise.
    @Test(arguments: Zones.all)
    func aDeviceThatSleepsRunsEachDayOnce(_ name: String) {
        let schedule = CalendarSchedule.day(at: "02:30", in: Zones.zone(name))
        for missed in MissedTicks.allCases {
            var now = UnixTime(Zones.date("2016-06-01T00:00:00Z"))
            let end = now + fullSize(3_653, inDebug: 400) * 86_400
            var machine = CalendarStateMachine(schedule, missed: missed, start: now)
            var (begun, late): ([UnixTime], Int) = ([], 0)
            var days = 0
            while now < end {
                switch machine.look(at: now) {
                case .begin(let time, let isLate):
                    if let last = begun.last, schedule.next(after: last) != time, missed != .skip, !isLate {
                        Issue.record("\(name): a day is left out before \(time.date)")
                    }
                    begun.append(time)
                    late += isLate ? 1 : 0
                    days += 1
                    now = now + 5
                case .sleep(let time):
                    let next = schedule.next(after: now)!
                    // Suspended until shortly before the next time; on each seventh day, until an hour after it.
                    let wake = days % 7 == 6 ? next + 3_600 : next + -30
                    if wake > time { days += days % 7 == 6 && missed == .skip ? 1 : 0 }
                    now = max(time, wake)
                }
            }
            #expect(Set(begun).count == begun.count)
            #expect(zip(begun, begun.dropFirst()).allSatisfy(<))
            let total = (end - begun[0]) / 86_400
            switch missed {
            case .once, .all: #expect(begun.count >= total - 1 && begun.count <= total + 2 && late > total / 8)
            case .skip: #expect(late == 0 && begun.count > total / 2 && begun.count < total)
            }
        }
    }
}
