#if os(Linux)
import Dispatch
import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// A step that does not come to its end is reported, once. It never does, so each program here is a process, which ends with the report.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported))
struct WatchdogTests {
    /// Has the process end successfully when standard error contains some texts, of which each ends a line.
    private static func exit(after texts: [String]) throws {
        let pipe = Pipe()
        let original = dup(STDERR_FILENO)
        dup2(pipe.fileHandleForWriting.fileDescriptor, STDERR_FILENO)
        Thread.detachNewThread {
            var found = ""
            while true {
                let data = pipe.fileHandleForReading.availableData
                _ = data.withUnsafeBytes { write(original, $0.baseAddress, $0.count) }
                found += String(decoding: data, as: UTF8.self)
                if texts.allSatisfy({ found.contains($0) }) { _exit(0) }
            }
        }
    }

    @Test(.oneProcessAtATime) func aStepThatIsBlockedIsReported() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            setenv("TASKCONTROL_WATCHDOG", "0.5", 1)
            try WatchdogTests.exit(after: ["run on this thread.\n"])
            try simulate(seed: 3, strategy: .random) { _ in
                let semaphore = DispatchSemaphore(value: 0)
                Task(name: "waits") { WatchdogTests.wait(for: semaphore) }
            }
        }
        let text = text(result)
        #expect(text.contains("simulate: seed 3, step "))
        #expect(text.contains(" has waited for 500 ms without suspending, called at TaskControlTestingTests/Watchdog"))
        #expect(text.contains("It is blocked in dispatch_semaphore_wait, which no other task of the simulation can"))
        #expect(text.contains(", task #1 waits has"))
    }

    private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test(.oneProcessAtATime) func soIsALoopWithoutAnAwait() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            setenv("TASKCONTROL_WATCHDOG", "0.5", 1)
            try WatchdogTests.exit(after: ["loop that never suspends.\n"])
            try simulate(seed: 4, strategy: .random) { _ in
                let isDone = Locked(false)
                Task(name: "does") { isDone.withLock { $0 = true } }
                while !isDone.withLock({ $0 }) {}
            }
        }
        #expect(text(result).contains("simulate: seed 4, step 1, task #0 body has used the processor for 500 ms"))
    }

    /// The simulation beside it continues, and is not reported.
    @Test(.oneProcessAtATime) func onlyTheOneThatIsBlockedIsReported() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            setenv("TASKCONTROL_WATCHDOG", "1", 1)
            try WatchdogTests.exit(after: ["step 1, task #0 body has waited", "run on this thread.\n"])
            let never = Pipe()
            Thread.detachNewThread {
                _ = try? simulate(seed: 8) { _ in _ = try never.fileHandleForReading.read(upToCount: 1) }
            }
            while true { try simulate(seeds: 0..<3) { _ in await Task.yield() } }
        }
        let text = text(result)
        #expect(text.contains("simulate: seed 8,") && text.components(separatedBy: "simulate:").count == 2)
        #expect(text.contains("It is blocked in read, "))
    }

    /// Nothing else could end it: not even the time limit of a test.
    @Test(.oneProcessAtATime) func aStepThatNeverEndsEndsTheProcess() async {
        let result = await #expect(processExitsWith: .signal(SIGTRAP), observing: [\.standardErrorContent]) {
            setenv("TASKCONTROL_WATCHDOG", "0.02", 1)
            let isDone = Locked(false)
            try simulate(seed: 5, strategy: .random) { _ in while !isDone.withLock({ $0 }) {} }
        }
        let text = text(result)
        #expect(text.contains("task #0 body has used the processor for 20 ms without suspending, called at"))
        #expect(text.contains(". After 240 ms, it ends the process. It is in a loop"))
        #expect(text.contains("has used the processor for 240 ms without suspending, called at"))
        #expect(text.contains("simulate: crashed in seed 5, step 1, task #0 body"))
    }

    /// As on a machine that is so busy that it gives the thread hardly any time: the thread waits for itself, not the program.
    @Test(.oneProcessAtATime) func aStepThatGetsNoTimeIsNotReported() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            setenv("TASKCONTROL_WATCHDOG", "0.2", 1)
            try simulate(seed: 5, strategy: .random) { sim in
                for _ in 0..<100 { _ = sim.outside { usleep(10_000) } }
            }
        }
        #expect(!text(result).contains("simulate:"))
    }

    private static func isWatched() throws -> Bool {
        let threads = "/proc/self/task"
        return try FileManager.default.contentsOfDirectory(atPath: threads).contains {
            try String(contentsOfFile: "\(threads)/\($0)/comm", encoding: .utf8) == "TC watchdog\n"
        }
    }

    @Test(.oneProcessAtATime) func zeroTurnsItOff() async {
        await #expect(processExitsWith: .success) {
            setenv("TASKCONTROL_WATCHDOG", "0", 1)
            try simulate(seed: 1, strategy: .random) { sim in
                let isWatched = try WatchdogTests.isWatched()
                sim.expect(!isWatched)
            }
            for text in ["", "nonsense", "-1", "nan"] {
                setenv("TASKCONTROL_WATCHDOG", text, 1)
                try simulate(seed: 1, strategy: .random) { sim in
                    let isWatched = try WatchdogTests.isWatched()
                    sim.expect(isWatched)
                }
            }
        }
    }
}
#endif
