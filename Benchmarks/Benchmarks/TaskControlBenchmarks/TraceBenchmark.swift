import Benchmark
import Foundation
import TaskControl
import TaskControlTrace

/// Registers the cost of recording, per event, and of writing a million events.
func registerTrace() {
    Benchmark.row("TraceRecorder.receive") {
        let event = await anEvent()
        let (recorder, idle) = (TraceRecorder(capacity: capacity), IdleObserver())
        var row = Row(
            primitive: "`TraceRecorder`, an event",
            baseline: "an observer that does nothing",
            turns: await Turns.take(
                operations: events,
                baseline: { tell(event, to: idle) },
                primitive: { tell(event, to: recorder) }
            )
        )
        row.target = .nanosecondsBeyond(atMost: 250)
        row.weight = weight(of: event)
        return row
    }
    for format in TraceRecorder.Format.allCases {
        Benchmark.row("TraceRecorder.write, \(format)") {
            let recorder = await recording()
            let text = Data(recorder.text(as: format).utf8)
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("trace-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            var row = Row(
                primitive: "`TraceRecorder.write(.\(format))` of \(events.grouped) events, an event",
                baseline: "writing the same \((text.count / 1_000_000).grouped) MB",
                turns: await Turns.take(
                    operations: events,
                    baseline: { ContinuousClock().measure { try? text.write(to: file, options: .atomic) } },
                    primitive: { ContinuousClock().measure { try? recorder.write(format, to: file.path) } }
                )
            )
            // A million in two seconds.
            row.target = .nanoseconds(atMost: 2_000)
            return row
        }
    }
}

private let events = Scale.isQuick ? 10_000 : 1_000_000
/// The capacity of the recorder: fewer events than there are, so that some are removed.
private let capacity = 100_000

private struct IdleObserver: TaskObserver {
    @inline(never)
    func receive(_ event: TaskEvent) {}
}

private func tell(_ event: TaskEvent, to observer: any TaskObserver) -> Duration {
    ContinuousClock().measure { for _ in 0..<events { observer.receive(event) } }
}

/// Returns a recorder that has recorded the tasks of 100 queues until it was full.
private func recording() async -> TraceRecorder {
    let recorder = TraceRecorder(capacity: events)
    let observation = TaskDiagnostics.observe(recorder)
    let queues = (0..<100).map { FIFOQueue(name: "queue \($0)") }
    // Each has at least three events.
    for first in stride(from: 0, to: events / 3, by: 1_000) {
        let countdown = Countdown(1_000)
        for index in first..<first + 1_000 {
            Task(name: "task \(index)", on: queues[index % 100]) { countdown.hit() }
        }
        await countdown.wait()
    }
    observation.end()
    return recorder
}

private func anEvent() async -> TaskEvent {
    let catcher = Catcher()
    let observation = TaskDiagnostics.observe(catcher)
    await Task(name: "a task with a name", on: FIFOQueue(name: "a queue")) {}.value
    observation.end()
    return catcher.event
}

private final class Catcher: TaskObserver, @unchecked Sendable {
    private let lock = NSLock()
    private var last: TaskEvent?

    var event: TaskEvent { lock.withLock { last! } }

    func receive(_ event: TaskEvent) {
        lock.withLock { if event.subject != nil { last = event } }
    }
}

private func weight(of event: TaskEvent) -> Row.Weight {
    Heap.start()
    let recorder = TraceRecorder(capacity: capacity)
    for _ in 0..<capacity * 3 { recorder.receive(event) }
    let live = Heap.bytes
    recorder.removeAll()
    let left = Heap.stop()
    return Row.Weight(
        live: Double(live) / Double(capacity),
        left: Double(left) / Double(capacity),
        liveAtMost: 290
    )
}
