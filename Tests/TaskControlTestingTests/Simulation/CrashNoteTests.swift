#if os(Linux)
import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// A process that crashes in a simulation says under which seed.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported))
struct CrashNoteTests {
    private func expectNote(_ result: ExitTest.Result?, location: SourceLocation = #_sourceLocation) {
        let text = text(result)
        let note = text.split(separator: "\n").first { $0.hasPrefix("simulate: crashed in ") }
        #expect(
            note?.wholeMatch(
                of:
                    #/
                simulate:\ crashed\ in\ seed\ 3,\ step\ [0-9]+,\ task\ \#1\ worker,
                \ called\ at\ TaskControlTestingTests/CrashNoteTests\.swift:[0-9]+
                \ \(replay:\ try\ simulate\(seed:\ 3,\ strategy:\ \.pct\(depth:\ 2\)\)\ \{\ …\ \}\)
                /#
            ) != nil,
            "\(text)",
            sourceLocation: location
        )
    }

    /// Runs a program that crashes in a task, under a seed.
    private static func run(_ program: @escaping @Sendable () async -> Void) throws {
        try simulate(seed: 3, strategy: .pct(depth: 2)) { _ in
            await Task(name: "worker") {
                await Task.yield()
                await program()
            }.value
        }
    }

    @Test(.oneProcessAtATime) func aTrapNamesItsSeed() async {
        let fatal = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try CrashNoteTests.run { fatalError("on purpose") }
        }
        expectNote(fatal)
        #expect(text(fatal).contains("on purpose"))
        expectNote(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try CrashNoteTests.run { _ = [Int]()[[Int]().count] }
            }
        )
        expectNote(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try CrashNoteTests.run {
                    await withCheckedContinuation { continuation in
                        continuation.resume()
                        continuation.resume()
                    }
                }
            }
        )
    }

    private actor Account {
        private var balance = 0

        func add(_ amount: Int) { balance += amount }
        func end(_ traps: Bool) { if traps { fatalError("on purpose") } }
    }

    private static let program: @Sendable (_ traps: Bool, Simulation) async -> Void = { traps, sim in
        let (savings, checking) = (Account(), Account())
        await Task(name: "worker") {
            await savings.add(3)
            sim.note("saved")
            try? await Task.sleep(for: .milliseconds(2))
            let other = Task { await checking.add(1) }
            await other.value
            usleep(1_000)
            sim.atAnyPoint {}
            await withTaskGroup { group in for _ in 0..<2 { group.addTask { await Task.yield() } } }
            await savings.end(traps)
            sim.expect(false)
        }.value
    }

    /// The same texts as in a failure of the same seed.
    @Test(.oneProcessAtATime) func aTrapPrintsTheStepsBefore() async throws {
        let trap = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try simulate(seed: 3, strategy: .random) { await CrashNoteTests.program(true, $0) }
        }
        let failure = failure(seed: 3) { await Self.program(false, $0) }
        let parts = text(trap).components(
            separatedBy: "simulate: the last steps before (virtual time, the task that ran, its state afterwards):\n"
        )
        try #require(parts.count == 2, "\(text(trap))")
        let lines = parts[1].split(separator: "\n").prefix { $0.hasPrefix("  ") }.map { String($0.dropFirst(2)) }
        let steps = try #require(failure).steps.map { $0.description.components(separatedBy: ": note: ").last! }
        #expect(lines.count > 10)
        #expect(steps.indices.contains { Array(steps[$0...].prefix(lines.count)) == lines }, "\(lines)\n\(steps)")
        for text in [
            "“saved”, by #1 worker", "on Account 1", "on Account 2", "for 1.000 ms in", "sleeps until 2.000 ms",
        ] {
            #expect(lines.contains { $0.contains(text) }, "\(text): \(lines)")
        }
    }

    /// The signal is what it is without a simulation.
    @Test(.oneProcessAtATime, .tags(.unsanitized)) func aSignalNamesItsSeed() async {
        expectNote(
            await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
                try CrashNoteTests.run { abort() }
            }
        )
        expectNote(
            await #expect(processExitsWith: .signal(SIGSEGV), observing: [\.standardErrorContent]) {
                try CrashNoteTests.run { UnsafeMutablePointer<Int>(bitPattern: 8)!.pointee = 1 }
            }
        )
    }

    private static func recurse(_ depth: Int) -> Int {
        depth < 0 ? 0 : recurse(depth + 1) &+ depth
    }

    /// On a thread that has no stack for its signals, too.
    @Test(.oneProcessAtATime, .tags(.unsanitized)) func anEndlessRecursionNamesItsSeed() async {
        expectNote(
            await #expect(processExitsWith: .signal(SIGSEGV), observing: [\.standardErrorContent]) {
                try CrashNoteTests.run { _ = CrashNoteTests.recurse(0) }
            }
        )
    }

    @Test(.oneProcessAtATime) func theHandlerThatWasThereBeforeIsCalled() async {
        expectNote(
            await #expect(processExitsWith: .exitCode(7), observing: [\.standardErrorContent]) {
                for number in [SIGILL, SIGTRAP] {
                    var action = sigaction()
                    action.__sigaction_handler.sa_handler = { _ in _exit(7) }
                    sigaction(number, &action, nil)
                }
                try CrashNoteTests.run { fatalError() }
            }
        )
    }

    @Test(.oneProcessAtATime) func aCrashAfterwardsIsOfNoSeed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try CrashNoteTests.run {}
            fatalError("on purpose")
        }
        #expect(text(result).contains("on purpose") && !text(result).contains("simulate:"))
    }

    /// Beside a simulation on another thread.
    @Test(.oneProcessAtATime) func theSeedIsThatOfTheThread() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let isInside = Pipe(), never = Pipe()
            Thread.detachNewThread {
                _ = try? simulate(seed: 8) { _ in
                    try isInside.fileHandleForWriting.write(contentsOf: [1])
                    _ = try never.fileHandleForReading.read(upToCount: 1)
                }
            }
            _ = try isInside.fileHandleForReading.read(upToCount: 1)
            try CrashNoteTests.run { fatalError() }
        }
        expectNote(result)
        #expect(!text(result).contains("seed 8"))
    }
}
#endif
