#if SUBPROCESSES
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The lines that diagnostics write to the system's log: reports of mistakes, and the debug log.
@Suite(.timeLimit(.minutes(15)))
struct SystemLogTests {
    @Test(.oneProcessAtATime) func mistakesAreWrittenToTheSystemsLogInEveryBuild() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            await AsyncTask { throw MarkedError("lost") }.detached().value
            do { _ = AsyncTask { try? await Task.sleep(for: .seconds(3_600)) } }
            _ = try? await withCancellableContinuation(of: Int.self) { _ in {} }
        }
        let words = text(result)
        #expect(words.contains("TaskControl: AsyncTask: an error was thrown and nothing handles it"))
        #expect(words.contains(#": MarkedError(mark: "lost")"#))
        #expect(words.contains("TaskControl: AsyncTask: dropped and cancelled"))
        #expect(words.contains("SystemLogTests.swift"))
    }

    @Test(.oneProcessAtATime) func theReportOfMistakesCanBeTurnedOff() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            TaskDiagnostics.configure(TaskDiagnostics.Configuration(reportsMistakes: false))
            await AsyncTask { throw MarkedError("lost") }.detached().value
        }
        #expect(!text(result).contains("TaskControl"))
    }

    @Test(.oneProcessAtATime) func anUpdateLosesNoLineOfTheDebugLog() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            TaskDiagnostics.update { $0.debugLogging = true }
            let (bag, begun) = (TaskBag(name: "bag"), Gate())
            bag.addTask {
                await withTaskCancellationHandler {
                    begun.open()
                    try? await Task.sleep(for: .seconds(3_600))
                } onCancel: {
                    // Between the decision to cancel and its event.
                    TaskDiagnostics.update { $0.reportsMistakes = false }
                }
            }
            try await begun.wait()
            bag.cancelAll()
            try await bag.drain()
        }
        #expect(text(result).contains("TaskBag.cancelledAll name=bag count=1"))
    }

    @Test(.oneProcessAtATime) func aReportOfAMistakeIsRedacted() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            TaskDiagnostics.configure(TaskDiagnostics.Configuration(redact: { $0.contains("hush") ? "…" : $0 }))
            await AsyncTask { throw MarkedError("hush") }.detached().value
        }
        #expect(text(result).contains("nothing handles it: …"))
    }

    @Test(.oneProcessAtATime) func whetherAnEventIsAMistakeDoesNotDependOnRedaction() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            TaskDiagnostics.configure(TaskDiagnostics.Configuration(redact: { _ in "…" }))
            let collector = Collector { $0.kind == .abandonedWorkEnded }
            TaskDiagnostics.install(collector)
            for error in [CancellationError() as any Error, MarkedError("late")] {
                // Of work that had not begun at the limit, nothing would be reported.
                let (clock, begun, gate, ended) = (TestClock(), Gate(), Gate(), collector.events.count)
                let caller = Task {
                    _ = try? await withDetachedTimeout(.seconds(1), clock: clock) {
                        begun.open()
                        await gate.waitIgnoringCancellation()
                        throw error
                    }
                }
                try await begun.wait()
                await clock.advance(by: .seconds(1), waking: 1)
                await caller.value
                gate.open()
                try await collector.wait { $0.count > ended }
            }
            precondition(collector.events.map(\.severity) == [.debug, .warning])
        }
        #expect(!text(result).contains("precondition"))
    }

    // With the trait, swift-log writes the lines.
    #if !Logging
    @Test(.oneProcessAtATime) func theLogHasTheLinesOfTheDocumentWithTheKindOfThread() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            TaskDiagnostics.configure(.init(debugLogging: true))
            await MainActor.run {
                let lifetime = AsyncLifetime()
                for _ in 0..<3 { AsyncTask {}.bind(to: lifetime) }
                lifetime.cancelAll()
            }
            // The task of the flight ends after its caller has the value.
            let ends = Collector { $0.primitive == .withSingleFlight && $0.kind == .completed }
            TaskDiagnostics.install(ends)
            _ = try? await withSingleFlight(key: "token-refresh") { 1 }
            try await ends.wait { !$0.isEmpty }
            try? await retry(attempts: 2, backoff: .none) { attempt in
                if attempt == 1 { throw MarkedError("lost") }
            }
        }
        let lines = text(result).split(separator: "\n").map(String.init)
        for line in [
            "AsyncTask.created", "AsyncTask.boundToLifetime", "AsyncLifetime.cancelledAll count=3",
            "AsyncLifetime.deallocated",
        ] {
            // On Linux the main actor of a program with an async `main` leaves the main thread.
            let isThere = lines.contains {
                $0.hasPrefix("[main]       " + line) || $0.hasPrefix("[background] " + line)
            }
            #expect(isThere, "\(line)")
        }
        for line in [
            "[background] withSingleFlight.started key=token-refresh",
            #"[background] retry.failed attempt=1 error=MarkedError(mark: "lost")"#,
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(lines.contains { $0.hasPrefix("[background] withSingleFlight.completed key=token-refresh") })
        #expect(lines.contains { $0.hasPrefix("[background] retry.succeeded attempt=2") })
    }
    #endif
}
#endif
