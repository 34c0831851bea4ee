import TestSupport
import Testing

@testable import TaskControlTesting

/// One key, against the list of its writes. A crash keeps the writes whose value is even, or all, or none.
private struct DiskDriver: MachineDriver {
    enum Event: Hashable {
        case write, remove, mark, sync, crash(Kept)
    }

    enum Kept: Hashable {
        case all, none, everySecond
    }

    private var machine: DiskStateMachine
    private let losesUnsyncedWrites: Bool
    private var durable: Int?
    private var unsynced: [Int?] = []
    private var made = 0
    /// The mark of the machine, and how many of the writes it covers.
    private var mark: (mark: Int, count: Int)?

    init(losesUnsyncedWrites: Bool) {
        (machine, self.losesUnsyncedWrites) = (
            DiskStateMachine(losesUnsyncedWrites: losesUnsyncedWrites), losesUnsyncedWrites
        )
    }

    var signature: Int { [durable.hashValue, unsynced.hashValue, mark?.count.hashValue ?? -1, made].hashValue }

    var events: [Event] {
        [.write, .remove, .mark, .crash(.all), .crash(.none), .crash(.everySecond)] + (mark == nil ? [] : [.sync])
    }

    mutating func play(_ event: Event) {
        switch event {
        case .write:
            made += 1
            machine.write(made, for: "key")
            unsynced.append(made)
        case .remove:
            machine.write(nil, for: "key")
            unsynced.append(nil)
        case .mark:
            mark = (machine.mark(), unsynced.count)
        case .sync:
            var replaced: [Int] = []
            var old = durable
            for write in unsynced.prefix(losesUnsyncedWrites ? mark!.count : 0) {
                if let old { replaced.append(old) }
                old = write
            }
            #expect(machine.sync(before: mark!.mark) as? [Int] == replaced)
            for write in unsynced.prefix(mark!.count) { durable = write }
            unsynced.removeFirst(mark!.count)
            mark!.count = 0
        case .crash(let kept):
            var asked = 0
            func isKept(_ number: Int) -> Bool {
                switch kept {
                case .all: true
                case .none: false
                case .everySecond: number % 2 == 1
                }
            }
            let lost = machine.crash {
                asked += 1
                return isKept(asked) ? .durable : .lost
            }
            let losesKey = losesUnsyncedWrites && unsynced.indices.contains { !isKept($0 + 1) }
            #expect(lost == (losesKey ? ["key"] : []))
            #expect(asked == (losesUnsyncedWrites ? unsynced.count : 0))
            for (index, write) in unsynced.enumerated() where !losesUnsyncedWrites || isKept(index + 1) {
                durable = write
            }
            unsynced = []
            mark?.count = 0
        }
        let current = unsynced.last ?? durable
        #expect(machine.read("key") as? Int == current)
        #expect(machine.keys == (current == nil ? [] : ["key"]))
    }
}

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct DiskStateMachineTests {
    @Test(arguments: [true, false])
    func everySequenceOfWritesSyncsAndCrashesAgreesWithTheModel(losesUnsyncedWrites: Bool) {
        let driver = DiskDriver(losesUnsyncedWrites: losesUnsyncedWrites)
        #expect(driver.playEverySequence(upTo: 6) { $0.events } > 1_000)
    }

    @Test func aLaterWriteMayBeKeptWhereAnEarlierOneIsLost() {
        var disk = DiskStateMachine(losesUnsyncedWrites: true)
        disk.write(1, for: "data")
        disk.write(2, for: "index")
        var isKept = true
        let lost = disk.crash {
            isKept.toggle()
            return isKept ? .durable : .lost
        }
        #expect(lost == ["data"])
        #expect(disk.keys == ["index"])
    }

    @Test func aTornWriteOverwritesTheEarlierValue() {
        var disk = DiskStateMachine(losesUnsyncedWrites: true)
        for key in ["bytes", "text", "number"] { disk.write(0, for: key) }
        _ = disk.sync(before: disk.mark())
        disk.write([1, 2, 3, 4] as [UInt8], for: "bytes")
        disk.write("word", for: "text")
        disk.write(7, for: "number")
        #expect(disk.crash { .torn(0.5) } == ["bytes", "number", "text"])
        #expect(disk.keys == ["bytes", "text"])
        #expect(disk.read("bytes") as? [UInt8] == [1, 2] && disk.read("text") as? String == "wo")
    }

    @Test func aFailedSyncIsNotRepairedByALaterOne() {
        var disk = DiskStateMachine(losesUnsyncedWrites: true)
        disk.write(1, for: "key")
        #expect(disk.failSync(before: disk.mark()) as? [Int] == [1])
        _ = disk.sync(before: disk.mark())
        #expect(disk.read("key") as? Int == 1)
        #expect(disk.crash { .durable }.isEmpty)
        #expect(disk.read("key") == nil)
    }
}
