import TaskControlTesting

@testable import TaskControl

/// A callback API under a bridge, and the sequential model of the two: the list of what has happened, from which all else follows.
///
/// A simulation has one thread, and nothing here suspends between an event and its note, so the two never run apart.
final class BridgeWorld: Sendable {
    enum Event: Hashable, Sendable {
        /// The callback comes, with a value or an error.
        case value(Int)
        case error(Int)
        case letGo, cancel
    }

    /// The events, their times, and the form of the API.
    struct Program: Sendable {
        /// While it is called, in this order.
        var inside: [Event]
        /// Later, wherever the seed puts each.
        var later: [Event]
        /// While its handle is cancelled.
        var answer: Event?
        var throwsAtTheEnd: Bool

        init(_ random: inout some RandomNumberGenerator) {
            let callbacks = (1...Int.random(in: 1...3, using: &random)).map { number in
                Bool.random(using: &random) ? Event.value(number) : .error(number)
            }
            let events = ((callbacks + [.cancel, .letGo]).filter { _ in random.next() % 5 > 0 }).shuffled(
                using: &random
            )
            let split = Int.random(in: 0..<8, using: &random) < 4 ? 0 : Int.random(in: 0...events.count, using: &random)
            inside = Array(events.prefix(split))
            later = Array(events.dropFirst(split))
            answer = [nil, nil, .value(8), .error(8), .letGo].randomElement(using: &random)!
            throwsAtTheEnd = Int.random(in: 0..<10, using: &random) == 0
        }
    }

    private enum Note: Hashable {
        case event(Event)
        case begun, failed
    }

    private struct Failure: Error, Hashable {
        let number: Int
    }

    private struct State {
        var notes: [Note] = []
        var callback: CancellableContinuation<Int>?
        var handleCancellations = 0
        var handlesAlive = 0
    }

    private let sim: Simulation
    private let whenCancelled: CancelledContinuationBehavior
    private let program: Program
    private let state = Locked(State())

    init(_ sim: Simulation, _ program: Program, whenCancelled: CancelledContinuationBehavior) {
        (self.sim, self.program, self.whenCancelled) = (sim, program, whenCancelled)
    }

    func run() async {
        let caller = Task {
            let wasCancelled = Task.isCancelled
            let result: Result<Int, any Error>
            do { result = .success(try await call()) } catch { result = .failure(error) }
            check(result, wasCancelled: wasCancelled)
        }
        // At last, so that no wait is for a caller that will not come.
        let last = Task {
            try await Task.sleep(for: .seconds(1))
            happen(.letGo, to: caller)
        }
        for event in program.later { sim.atAnyPoint { self.happen(event, to: caller) } }
        await caller.value
        last.cancel()
    }

    private func call() async throws -> Int {
        try await withCancellableContinuation(whenCancelled: whenCancelled) { continuation in
            state.withLock { $0.callback = continuation }
            for event in program.inside { happen(event, to: nil) }
            state.withLock { $0.notes.append(program.throwsAtTheEnd ? .failed : .begun) }
            if program.throwsAtTheEnd { throw Failure(number: 9) }
            return Handle(self)
        }
    }

    /// - Parameter caller: `nil`: the calling task.
    private func happen(_ event: Event, to caller: Task<Void, Never>?) {
        let callback = state.withLock { state in
            if event == .cancel || state.callback != nil { state.notes.append(.event(event)) }
            return event == .letGo ? state.callback.take() : state.callback
        }
        switch event {
        case .value(let number): callback?.resume(returning: number)
        case .error(let number): callback?.resume(throwing: Failure(number: number))
        case .letGo: break
        case .cancel: if let caller { caller.cancel() } else { withUnsafeCurrentTask { $0?.cancel() } }
        }
    }

    private final class Handle: Cancellable, Sendable {
        let world: BridgeWorld

        init(_ world: BridgeWorld) {
            self.world = world
            world.state.withLock { $0.handlesAlive += 1 }
        }

        func cancel() {
            world.state.withLock { $0.handleCancellations += 1 }
            if let answer = world.program.answer { world.happen(answer, to: nil) }
        }

        deinit { world.state.withLock { $0.handlesAlive -= 1 } }
    }

    // MARK: The model

    private enum Outcome: Hashable {
        case value(Int)
        case error(Int)
        case dropped, cancelled
    }

    /// The result that the caller must receive, by the notes, and how often the handle must have been cancelled.
    private static func expected(
        _ notes: [Note],
        whenCancelled: CancelledContinuationBehavior
    ) -> (outcome: Outcome?, cancellations: Int) {
        var (outcome, cancellations) = (Outcome?.none, 0)
        var (isCancelled, isBegun, isLetGo) = (false, false, false)
        for note in notes {
            switch note {
            case .event(.cancel): isCancelled = true
            case .event(.letGo): isLetGo = true
            case .begun: isBegun = true
            case .event, .failed: break
            }
            guard outcome == nil else { continue }
            switch note {
            case .event(.value(let number)): outcome = .value(number)
            case .event(.error(let number)): outcome = .error(number)
            case .failed: outcome = .error(9)
            case .event(.letGo), .event(.cancel), .begun:
                // While the API is called, the bridge itself has the callback too, and no handle yet.
                guard isBegun else { continue }
                if isLetGo {
                    outcome = .dropped
                } else if isCancelled, cancellations == 0 {
                    cancellations = 1
                    if whenCancelled == .throwImmediately { outcome = .cancelled }
                }
            }
        }
        // One cancellation error.
        switch outcome {
        case .error, .dropped: if isCancelled { outcome = .cancelled }
        case .value, .cancelled, nil: break
        }
        return (outcome, cancellations)
    }

    private func check(_ result: Result<Int, any Error>, wasCancelled: Bool) {
        let outcome: Outcome =
            switch result {
            case .success(let number): .value(number)
            case .failure(let failure as Failure): .error(failure.number)
            case .failure(is ContinuationDroppedError): .dropped
            case .failure: .cancelled
            }
        let state = state.withLock { $0 }
        if wasCancelled {
            sim.expect(outcome == .cancelled && !state.notes.contains(.begun), "nothing begins")
            return
        }
        let expected = Self.expected(state.notes, whenCancelled: whenCancelled)
        sim.expect(outcome == expected.outcome, "\(outcome), not \(expected) after \(state.notes)")
        sim.expect(
            state.handleCancellations == expected.cancellations,
            "the handle was cancelled \(state.handleCancellations) times, not \(expected) after \(state.notes)"
        )
        sim.expect(state.handlesAlive == 0, "the handle is let go")
    }
}
