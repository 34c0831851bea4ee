import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlTrace

/// The records that a recorder keeps, and those that it drops.
@Suite(.timeLimit(.minutes(15)))
struct TraceRingTests {
    private func event(_ number: Int) -> TaskEvent { TaskEvent(.retry, .failed, attempt: number) }

    @Test(arguments: 1...9, 1...4)
    func theLatestAreThereInOrderAndTheOthersAreCounted(capacity: Int, chunkSize: Int) {
        var ring = TraceRing(capacity: capacity, chunkSize: chunkSize)
        var gone: [Int] = []
        for number in 0..<40 {
            gone += ring.append(TraceRecord(event(number)))?.map { $0.attempt! } ?? []
            let kept = ring.latest
            #expect(kept.chunks.joined().map { $0.attempt! } == Array(max(0, number + 1 - capacity)...number))
            #expect(kept.lost == max(0, number + 1 - capacity) && kept.count + kept.lost == ring.count)
            // Less than two chunks more than what is asked for.
            #expect(number + 1 - gone.count < capacity + 2 * chunkSize)
        }
        #expect(gone == Array(0..<gone.count) && gone.count > 40 - capacity - 2 * chunkSize)
    }

    /// Such as a program passes to keep all events.
    @Test(arguments: [Int.max, .max - 1, .max - 255, .max - 256], [1, 2, 255, 256, .max])
    func theLargestCapacitiesKeepEverything(capacity: Int, chunkSize: Int) {
        var ring = TraceRing(capacity: capacity, chunkSize: min(chunkSize, 1_000))
        for number in 0..<600 {
            let gone = ring.append(TraceRecord(event(number)))
            #expect(gone == nil)
        }
        #expect(ring.latest.count == 600 && ring.latest.lost == 0)
        let recorder = TraceRecorder(capacity: capacity)
        recorder.receive(event(1))
        recorder.removeAll()
        #expect(recorder.events.count == 0)
    }

    @Test func aCopyStaysAsItIs() {
        var ring = TraceRing(capacity: 4, chunkSize: 2)
        for number in 0..<3 { _ = ring.append(TraceRecord(event(number))) }
        let copy = ring
        for number in 3..<20 { _ = ring.append(TraceRecord(event(number))) }
        #expect(copy.latest.chunks.joined().map { $0.attempt! } == [0, 1, 2])
    }

    @Test func whatIsRemovedIsNeitherThereNorLost() {
        let recorder = TraceRecorder(capacity: 3)
        for number in 0..<10 { recorder.receive(event(number)) }
        #expect(recorder.events.lost == 7)
        recorder.removeAll()
        recorder.receive(event(10))
        #expect(recorder.events.count == 1 && recorder.events.lost == 0)
    }

    @Test func aLongTextIsCutWithoutKeepingTheWhole() {
        let recorder = TraceRecorder(capacity: 3)
        var event = event(1)
        event.error = String(repeating: "é", count: 100_000)
        event.key = "short"
        recorder.receive(event)
        let kept = recorder.events.chunks.joined().first!
        #expect(kept.key == "short" && kept.error!.utf8.count < 520 && kept.error!.hasSuffix("é…"))
    }

    @Test func anEventTakesAsMuchMemoryAsDocumented() {
        #expect(MemoryLayout<TraceRecord>.stride <= 280)
    }

    @Test(arguments: [0, -1, Int.min]) func aRecorderKeepsAtLeastOneEvent(_ capacity: Int) {
        let recorder = TraceRecorder(capacity: capacity)
        #expect(recorder.capacity == 1)
        for number in 1...3 { recorder.receive(event(number)) }
        #expect(recorder.events.chunks.joined().count == 1)
    }
}
