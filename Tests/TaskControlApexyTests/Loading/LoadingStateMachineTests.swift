import TestSupport
import Testing

@testable import TaskControlApexy

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct LoadingStateMachineTests {
    private struct Failure: Error {}

    private enum Event: CaseIterable {
        case begin, newestSucceeds, newestFails, oldestSucceeds, oldestFails, cancel, replace
    }

    /// The same in other terms: every load that has begun, and which of them counts.
    private struct Model {
        var loads: [Int] = []
        var counts: Int?
        var content: Int?
        var hasFailed = false
        var isInitial = true

        var state: LoadingState<Int> {
            if counts != nil { return .loading(cache: content) }
            if isInitial { return .initial }
            if hasFailed { return .failure(error: Failure(), cache: content) }
            return content.map { .success(content: $0) } ?? .initial
        }
    }

    private func play(_ events: [Event], from content: Int?) {
        var machine = LoadingStateMachine(content)
        var model = Model(content: content, isInitial: content == nil)
        for (step, event) in events.enumerated() {
            switch event {
            case .begin:
                let load = machine.begin()
                #expect(!model.loads.contains(load))
                model.loads.append(load)
                model.counts = load
            case .newestSucceeds, .newestFails, .oldestSucceeds, .oldestFails:
                let isOldest = event == .oldestSucceeds || event == .oldestFails
                guard let load = isOldest ? model.loads.first : model.loads.last else { continue }
                model.loads.removeAll { $0 == load }
                let succeeds = event == .newestSucceeds || event == .oldestSucceeds
                let isChange = machine.end(load, with: succeeds ? .success(step) : .failure(Failure()))
                #expect(isChange == (load == model.counts), "\(events)")
                guard load == model.counts else { break }
                model.counts = nil
                model.isInitial = false
                model.hasFailed = !succeeds
                if succeeds { model.content = step }
            case .cancel:
                #expect(machine.cancel() == (model.counts != nil), "\(events)")
                model.counts = nil
            case .replace:
                machine.replace(with: step)
                model = Model(loads: model.loads, content: step, isInitial: false)
            }
            #expect(machine.state == model.state, "\(events)")
            #expect(machine.isLoading == machine.state.isLoading)
        }
    }

    @Test func everyShortSequenceOfEventsAgreesWithTheModel() {
        var sequences: [[Event]] = [[]]
        for _ in 0..<5 {
            sequences = sequences.flatMap { sequence in Event.allCases.map { sequence + [$0] } }
            for content in [nil, -1] { for sequence in sequences { play(sequence, from: content) } }
        }
    }

    @Test func statesAreMerged() {
        let failure = LoadingState<Int>.failure(error: Failure(), cache: nil)
        let states: [LoadingState<Int>] = [
            .initial, .loading(cache: nil), .loading(cache: 1), .success(content: 2), failure,
            .failure(error: Failure(), cache: 3),
        ]
        for one in states {
            for other in states {
                let merged = one.merge(other) { [$0, $1] }
                let contents = [one.content, other.content].compactMap(\.self)
                #expect(merged.content == (contents.count == 2 ? contents : nil), "\(one), \(other)")
                let isLoading = one.isLoading || other.isLoading
                #expect(merged.isLoading == isLoading)
                #expect((merged.error != nil) == (!isLoading && (one.error != nil || other.error != nil)))
            }
        }
        #expect(LoadingState.initial.merge(LoadingState<Int>.success(content: 1), transform: +) == .initial)
    }

    @Test func errorsAreComparedByDomainAndCode() {
        let offline = LoadingState<Int>.failure(error: URLError(.notConnectedToInternet), cache: 1)
        #expect(offline == .failure(error: URLError(.notConnectedToInternet), cache: 1))
        #expect(offline != .failure(error: URLError(.timedOut), cache: 1))
        #expect(offline != .failure(error: URLError(.notConnectedToInternet), cache: nil))
        #expect(offline.map(String.init) == .failure(error: URLError(.notConnectedToInternet), cache: "1"))
        #expect(LoadingState.loading(cache: 1) != .success(content: 1))
    }
}
