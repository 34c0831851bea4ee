import TaskControl
import TestSupport
import Testing

@testable import TaskControlHTTP

@Suite(.tags(.machine))
struct CallTableStateMachineTests {
    private typealias Machine = CallTableStateMachine<Int>

    /// A call of the model: its canceller, and the number of the `cancelAll` that has cancelled it.
    private struct ModelCall {
        let id: Machine.ID
        var canceller: Int?
        var cancellation: Int?
    }

    private struct Model {
        var machine = Machine()
        var calls: [ModelCall] = []
        /// The IDs of calls that have ended, which are never used again.
        var ended: [Machine.ID] = []
        var isClosed = false
        /// The number of cancellers that were attached, and of calls of `cancelAll`.
        var (attached, cancellations) = (0, 0)
        var drain: Machine.Drain?

        var live: Int { calls.count { $0.cancellation == nil } }
    }

    private static func cause(_ number: Int) -> CancellationCause { .requested(reason: "\(number)") }

    /// All sequences of events, compared with a list.
    @Test func theTableBehavesLikeAList() {
        check(Model(), depth: fullSize(7, inDebug: 6))
    }

    private func check(_ model: Model, depth: Int) {
        #expect(model.machine.liveCount == model.live)
        for call in model.calls {
            let cancellation = model.machine.cancellation(of: call.id)
            #expect(cancellation?.cause == call.cancellation.map(Self.cause))
            #expect(cancellation?.isCutOff ?? false == call.cancellation.map { $0.isMultiple(of: 2) } ?? false)
        }
        #expect(model.ended.allSatisfy { model.machine.cancellation(of: $0) == nil })
        guard depth > 0 else { return }
        if model.calls.count < 3 { check(entered(model), depth: depth - 1) }
        if model.live > 0 { check(cancelled(model), depth: depth - 1) }
        if model.drain == nil { check(draining(model), depth: depth - 1) }
        if !model.isClosed {
            var next = model
            next.isClosed = true
            next.machine.close()
            check(next, depth: depth - 1)
        }
        for index in model.calls.indices {
            let isAttached = model.calls[index].canceller != nil
            check(isAttached ? detached(model, index) : attached(model, index), depth: depth - 1)
            check(left(model, index), depth: depth - 1)
        }
    }

    private func entered(_ model: Model) -> Model {
        var model = model
        let id = model.machine.enter()
        #expect((id == nil) == model.isClosed)
        if let id {
            #expect(!model.ended.contains(id) && !model.calls.contains { $0.id == id })
            model.calls.append(ModelCall(id: id))
        }
        return model
    }

    private func attached(_ model: Model, _ index: Int) -> Model {
        var model = model
        model.attached += 1
        let refused = model.machine.attach(model.attached, to: model.calls[index].id)
        if let cancellation = model.calls[index].cancellation {
            #expect(refused?.0 == model.attached && refused?.1 == Self.cause(cancellation))
        } else {
            #expect(refused == nil)
            model.calls[index].canceller = model.attached
        }
        return model
    }

    private func detached(_ model: Model, _ index: Int) -> Model {
        var model = model
        let canceller = model.machine.detach(model.calls[index].id)
        #expect(canceller == model.calls[index].canceller)
        model.calls[index].canceller = nil
        return model
    }

    private func cancelled(_ model: Model) -> Model {
        var model = model
        model.cancellations += 1
        let number = model.cancellations
        let (ids, cancellers) = model.machine.cancelAll(for: Self.cause(number), isCutOff: number.isMultiple(of: 2))
        let live = model.calls.filter { $0.cancellation == nil }
        #expect(Set(ids) == Set(live.map(\.id)) && Set(cancellers) == Set(live.compactMap(\.canceller)))
        for index in model.calls.indices where model.calls[index].cancellation == nil {
            (model.calls[index].cancellation, model.calls[index].canceller) = (number, nil)
        }
        return model
    }

    private func draining(_ model: Model) -> Model {
        var model = model
        let drain = model.machine.drain()
        #expect((drain == nil) == model.calls.isEmpty)
        if let drain {
            let outcome = model.machine.park(drain, Word(bits: 1))
            #expect(outcome == nil)
            // Another one that does not stay.
            if let other = model.machine.drain() {
                _ = model.machine.park(other, Word(bits: 2))
                let waiter = model.machine.leave(other)
                #expect(waiter?.bits == 2)
            }
        }
        model.drain = drain
        return model
    }

    private func left(_ model: Model, _ index: Int) -> Model {
        var model = model
        let call = model.calls.remove(at: index)
        let id = call.id
        model.ended.append(id)
        let (released, drained) = model.machine.leave(id)
        #expect(released == call.canceller)
        #expect(drained.map(\.bits) == (model.calls.isEmpty && model.drain != nil ? [1] : []))
        if model.calls.isEmpty { model.drain = nil }
        // Late events of the call have no effect.
        let (late, canceller) = (model.machine.attach(0, to: id), model.machine.detach(id))
        let again = model.machine.leave(id)
        #expect(late == nil && canceller == nil && again.canceller == nil && again.drained.isEmpty)
        return model
    }

    @Test func finishedCallsAreForgotten() {
        var machine = Machine()
        for _ in 0..<1_000_000 { if let id = machine.enter() { _ = machine.leave(id) } }
        #expect(machine.capacity <= 128)
        #expect(machine.liveCount == 0 && machine.drain() == nil)
    }
}
