import Foundation
import TaskControlTesting

/// Runs tests under many schedules, and writes a line of JSON for each into the file that the environment names. A test that the file already names
/// has run in an earlier process, which it may have ended: it is not run again.
enum SimulatedTest {
    static let schedules: Range<UInt64> = 0..<100

    /// - Parameters:
    ///   - name: The name of the test in the report.
    ///   - isSkip: Whether an error of the test means that the test is skipped.
    ///   - body: Creates the test's instance and calls its function.
    static func run(
        _ name: String,
        isSkip: (any Error) -> Bool = { _ in false },
        _ body: @escaping @Sendable (Simulation) async throws -> Void
    ) {
        guard report.begins(name) else { return }
        var line = Line(test: name, outcome: "passed")
        do {
            let result = try simulate(seeds: schedules, fileID: name, body)
            line.schedules = result.scheduleCount
            line.distinct = result.distinctScheduleCount
        } catch let failure as Simulation.Failure {
            line.outcome = outcome(of: failure.reason, isSkip)
            line.detail = "\(failure.reason)"
            line.seed = failure.seed
            line.replay = "\(failure.shortestSchedule)"
            line.steps = failure.description
        } catch {
            line.outcome = "failed"
            line.detail = "\(error)"
        }
        report.write(line)
    }

    private static func outcome(of reason: Simulation.Failure.Reason, _ isSkip: (any Error) -> Bool) -> String {
        switch reason {
        case .escaped: "escaped"
        case .threw(let error) where isSkip(error): "skipped"
        case .expectation, .threw: "failed"
        default: "stopped"
        }
    }

    struct Line: Codable {
        var test: String
        var outcome: String
        var schedules = 0
        var distinct = 0
        var seed: UInt64 = 0
        var detail = ""
        var replay = ""
        var steps = ""
    }

    static let report = Report()

    final class Report: @unchecked Sendable {
        // Unchecked: the tests run one after another, and the file handle is a constant.
        private var names: Set<String> = []
        private var counts: [String: Int] = [:]
        private let handle: FileHandle
        /// The only test to run; empty for all.
        private let only = ProcessInfo.processInfo.environment["TASKCONTROL_UPSTREAM_TEST"] ?? ""

        init() {
            guard let path = ProcessInfo.processInfo.environment["TASKCONTROL_UPSTREAM"],
                let handle = FileHandle(forUpdatingAtPath: path)
            else { fatalError("TASKCONTROL_UPSTREAM must be the path of an existing file.") }
            self.handle = handle
            let data = (try? handle.readToEnd()) ?? Data()
            for line in data.split(separator: UInt8(ascii: "\n")) {
                if let line = try? JSONDecoder().decode(Line.self, from: line) { names.insert(line.test) }
            }
        }

        /// The number of a case of a test, in the order in which they run.
        func number(of test: String) -> Int {
            counts[test, default: 0] += 1
            return counts[test]!
        }

        func begins(_ name: String) -> Bool {
            guard only.isEmpty || name == only, names.insert(name).inserted else { return false }
            write(Line(test: name, outcome: "began"))
            return true
        }

        func write(_ line: Line) {
            guard var data = try? JSONEncoder().encode(line) else { return }
            data.append(UInt8(ascii: "\n"))
            try? handle.write(contentsOf: data)
        }
    }
}
