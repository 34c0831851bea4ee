import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct SimulationTraceTests {
    private func failure() throws -> Simulation.Failure {
        try #require(throws: Simulation.Failure.self) {
            try simulate(seed: 1) { sim in
                let counter = Counter()
                let worker = Task(name: "worker") {
                    try await Task.sleep(for: .seconds(2))
                    sim.note("has slept")
                    await counter.add(1)
                }
                try await worker.value
                sim.expect(await counter.value == 2, "two")
            }
        }
    }

    @Test func theTraceHasALanePerTaskOnVirtualTime() throws {
        let failure = try failure()
        let text = failure.trace(as: .perfetto)
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8))
        #expect(json is [String: Any] || json is [Any])
        for expected in ["#1 worker", "has slept", "sleeps until 2000.000 ms", "Counter"] {
            #expect(text.contains(expected), "\(expected)")
        }
        #expect(failure.trace(as: .html).contains("#0 body"))
    }

    @Test func stepsAreCoded() throws {
        let steps = try failure().steps
        let coded = try JSONDecoder().decode([SimulationStep].self, from: JSONEncoder().encode(steps))
        #expect(coded == steps)
        let note = try #require(steps.first { $0.location != nil })
        #expect(note.location?.hasPrefix(#filePath + ":") == true)
        #expect(note.description.hasPrefix(#filePath + ":"))
        #expect(steps.contains { $0.actor == "Counter" && $0.task?.name == "worker" })
    }

    @Test func aFileIsWritten() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("schedule-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("schedule.html").path
        try failure().writeTrace(to: path)
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("#1 worker"))
    }
}
