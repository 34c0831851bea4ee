import Foundation
import TaskControlTesting
import Testing

@testable import fleet_workload

/// Processes whose output is received to its end, and that are listed as long as they run.
@Suite struct ProcessTests {
    private final class Lines: @unchecked Sendable {
        private let lock = NSLock()
        private var lines: [String] = []
        func add(_ line: Data) { lock.withLock { lines.append(String(decoding: line, as: UTF8.self)) } }
        var all: [String] { lock.withLock { lines } }
    }

    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ProcessTests-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private func shell(_ script: String, _ list: ProcessList, _ lines: Lines) throws -> ChildProcess {
        try ChildProcess(URL(fileURLWithPath: "/bin/sh"), ["-c", script], in: list) { lines.add($0) }
    }

    @Test func endingAProcessWaitsForAllThatItHasWritten() throws {
        try withFolder { folder in
            let (list, lines) = (ProcessList(folder.appendingPathComponent("processes")), Lines())
            let script = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i + 1)); done; printf rest; kill -KILL $$"
            let process = try shell(script, list, lines)
            while process.isRunning { usleep(1_000) }
            #expect(process.end())
            #expect(lines.all.count == 20_001)
            #expect(lines.all.last == "rest")
            #expect(process.end())
        }
    }

    @Test func aProcessIsListedFromItsStartToItsEnd() throws {
        try withFolder { folder in
            let file = folder.appendingPathComponent("processes")
            let (list, lines) = (ProcessList(file), Lines())
            let processes = try (0..<2).map { _ in try shell("exec sleep 600", list, lines) }
            let numbers = processes.map(\.number)
            #expect(try String(contentsOf: file, encoding: .utf8) == numbers.sorted().map { "\($0)\n" }.joined())
            processes[0].end()
            #expect(try String(contentsOf: file, encoding: .utf8) == "\(numbers[1])\n")
            processes[1].end()
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
    }

    @Test func aProcessThatCannotBeListedIsEnded() throws {
        try withFolder { folder in
            let list = ProcessList(folder.appendingPathComponent("missing/processes"))
            weak var received: Lines?
            do {
                let lines = Lines()
                received = lines
                #expect(throws: (any Error).self) { try shell("exec sleep 600", list, lines) }
            }
            // The thread that reads the output retains the lines until the process has ended.
            for _ in 0..<10_000 where received != nil { usleep(1_000) }
            #expect(received == nil)
        }
    }

    @Test func aLineThatIsNoRecordIsCounted() {
        let history = History()
        let record = #"{"kind":"entered","workload":"mutex","worker":1,"time":2,"token":3}"#
        for line in [record, String(record.dropLast(5)), "text"] { history.add(line: Data(line.utf8)) }
        #expect(history.records.count == 1 && history.brokenLines == 2)
        #expect(history.holder(of: .mutex) == 1)
    }

    @Test func oneFaultOfEachKindComesFirst() {
        let faults = Fault.ofWorkers + Fault.ofMembers
        for seed in 1...50 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            let line = Fault.line(of: faults, using: &random)
            #expect(Set(line.prefix(Fault.Kind.allCases.count).map(\.kind)).count == Fault.Kind.allCases.count)
            #expect(line.count == faults.count && Set(line) == Set(faults))
        }
    }
}
