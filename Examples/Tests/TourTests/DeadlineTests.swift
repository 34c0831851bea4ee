import Foundation
import TaskControl
import Testing

@testable import tour

/// The claims of the chapter, in more requests than the tour has time for.
@Suite(.timeLimit(.minutes(15)))
struct DeadlineTests {
    /// The program itself, beside the tests, where the build puts it. `nil`: not there.
    private static let executable: URL? = {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let file = folder.appending(path: "tour")
        return FileManager.default.isExecutableFile(atPath: file.path) ? file : nil
    }()

    @Test(.enabled(if: executable != nil))
    func noWorkStartsInCAfterTheDeadlineOfAPlusTheTransit() async throws {
        let chapter = DeadlineChapter(executable: Self.executable)
        let measured = try await chapter.measure(DeadlinePropagation.self, requests: 1_000, atOnce: 32)
        #expect(measured.endings.count == 1_000)
        #expect(measured.answered == 0)
        #expect(measured.isShrinking)
        #expect(measured.started > 0)
        #expect(measured.late == 0, "\(measured)")
    }

    @Test(.enabled(if: executable != nil))
    func aLimitInAAloneLeavesCAtWork() async throws {
        let chapter = DeadlineChapter(executable: Self.executable)
        let measured = try await chapter.measure(NaivePropagation.self, requests: 32, atOnce: 4)
        let late = measured.trips.count { $0.starts.count == DeadlineChapter.steps && $0.lateStarts > 0 }
        let received = measured.trips.count
        #expect(received > 0)
        #expect(late == received, "\(measured)")
    }

    @Test(.enabled(if: executable != nil))
    func aServiceEndsWithItsInput() async throws {
        let service = try ChildProcess(try #require(Self.executable), ["trip-service", "--form", "deadline"])
        #expect(try await service.firstLine().hasPrefix("http://127.0.0.1:"))
        #expect(try await String(decoding: service.end(), as: UTF8.self) == "[]")
    }

    @Test func aChildThatEndsAtOnceIsAnError() async throws {
        let child = try ChildProcess(URL(filePath: "/bin/sh"), ["-c", "exit 0"])
        await #expect(throws: ChildProcessEnded.self) { try await child.firstLine() }
    }

    @Test func aStepIsLateAfterTheDeadlinePlusTheTransit() {
        let start = ContinuousClock.now
        var trip = Trip(deadline: start + .milliseconds(300))
        trip.hops = [
            hop(sent: start, after: .milliseconds(2), remaining: .milliseconds(299)),
            hop(sent: start + .milliseconds(50), after: .milliseconds(3), remaining: .milliseconds(248)),
        ]
        trip.starts = [.zero, .milliseconds(304), .milliseconds(305), .milliseconds(306)].map { start + $0 }
        #expect(trip.transit == .milliseconds(5))
        #expect(trip.lateStarts == 1)
    }

    @Test func aProcessWithoutADeadlineOrWithAsMuchTimeAsItsCallerIsNoticed() {
        #expect(trip([299, 248]).isShrinking(from: .milliseconds(300)))
        #expect(!trip([299, 299]).isShrinking(from: .milliseconds(300)))
        #expect(!trip([300, 248]).isShrinking(from: .milliseconds(300)))
        #expect(!trip([299, nil]).isShrinking(from: .milliseconds(300)))
    }

    private func trip(_ remaining: [Int?]) -> Trip {
        let hops = remaining.map { hop(sent: .now, after: .zero, remaining: $0.map { .milliseconds($0) }) }
        return Trip(deadline: .now, hops: hops)
    }

    private func hop(sent: ContinuousClock.Instant, after time: Duration, remaining: Duration?) -> Trip.Hop {
        Trip.Hop(sent: sent, received: sent + time, remaining: remaining)
    }
}
