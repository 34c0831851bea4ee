import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct AsyncTaskStateMachineTests {
    enum Event: CaseIterable { case bindA, bindB, release, decide, finish }

    struct Place: Hashable {
        let place: Int
    }

    /// All sequences of five events: what is in the books when the task has finished is taken out, once each.
    @Test func everyBindingIsTakenOutOfTheBooksOnce() {
        func search(
            _ machine: AsyncTaskStateMachine<Place>,
            bound: [Int],
            removed: [Int],
            hasFinished: Bool,
            depth: Int
        ) {
            let inBooks = bound.filter { !removed.contains($0) }
            #expect(inBooks.count <= 1, "a task has one lifetime at most")
            if hasFinished { #expect(inBooks.isEmpty, "what has finished is in no books") }
            #expect(Set(removed).count == removed.count, "nothing is taken out twice")
            guard depth > 0 else { return }
            for event in Event.allCases {
                var (machine, bound, removed, hasFinished) = (machine, bound, removed, hasFinished)
                var obsolete: Int?
                switch event {
                case .bindA, .bindB:
                    bound.append(bound.count)
                    obsolete = machine.bind(Place(place: bound.count - 1))?.place
                    #expect(!machine.isUndecided)
                case .release: obsolete = machine.release()?.place
                case .decide: machine.decide()
                case .finish:
                    if hasFinished { continue }
                    hasFinished = true
                    obsolete = machine.finish()?.place
                }
                #expect(!machine.isUndecided)
                if let obsolete { removed.append(obsolete) }
                search(machine, bound: bound, removed: removed, hasFinished: hasFinished, depth: depth - 1)
            }
        }
        #expect(AsyncTaskStateMachine<Place>().isUndecided)
        search(AsyncTaskStateMachine(), bound: [], removed: [], hasFinished: false, depth: 5)
    }

    /// All sequences of five events of a task that events name at any moment: it keeps its name.
    @Test func eventsKnowATaskByOneSubject() {
        func search(_ life: AsyncTask.Life, _ settled: TaskEvent.Identity?, depth: Int) {
            var named = life
            let subject = named.subject()
            #expect(settled == nil || subject == settled)
            guard depth > 0 else { return }
            for life in [life, named] {
                // Its place may have been named by its registry.
                let settled = life.settledSubject ?? life.machine.binding?.subject
                for event in Event.allCases {
                    var life = life
                    switch event {
                    case .bindA: _ = life.change { $0.bind(places[0]) }
                    case .bindB: _ = life.change { $0.bind(places[1]) }
                    case .release: _ = life.change { $0.release() }
                    case .decide: _ = life.change { $0.decide() }
                    case .finish: _ = life.change { $0.finish() }
                    }
                    search(life, settled, depth: depth - 1)
                }
            }
        }
        let places = (0..<2).compactMap { _ -> AsyncTask.Binding? in
            let registry = TaskRegistry(.asyncLifetime, name: nil)
            return registry.reserve().map { AsyncTask.Binding(registry: registry, id: $0) }
        }
        search(AsyncTask.Life(), nil, depth: 5)
    }
}
