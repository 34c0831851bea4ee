import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The error of work whose owner was deallocated meanwhile.
@Suite(.timeLimit(.minutes(15)))
struct ReleasedOwnerErrorTests {
    private final class Model: Sendable {}
    private actor Counter {}

    // Functions, since the compiler warns of an object that is created only for an owner that is not retained.
    private static func model() -> Model { Model() }
    private static func counter() -> Counter { Counter() }

    /// A way to start work for an object or an actor that nothing else retains.
    struct Form: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let start: @Sendable (@escaping @Sendable () async throws -> Int) -> Task<DeliveryOutcome, Never>
    }

    private static let (lifetime, store, slot) = (AsyncLifetime(), TaskStore<Int>(), TaskSlot())

    static let forms = [
        Form(testDescription: "run") { work in
            lifetime.run(for: model(), work: work, deliver: { _, _ in }, onError: { _, _ in never() })
        },
        Form(testDescription: "run with onEnd") { work in
            lifetime.run(
                for: model(),
                work: work,
                deliver: { _, _ in },
                onError: { _, _ in never() },
                onEnd: { _, _ in never() }
            )
        },
        Form(testDescription: "run with onEnd in place of onError") { work in
            lifetime.run(for: model(), work: work, deliver: { _, _ in }, onEnd: { _, _ in never() })
        },
        Form(testDescription: "run for an actor") { work in
            lifetime.run(for: counter(), work: work, deliver: { _, _ in }, onError: { _, _ in never() })
        },
        Form(testDescription: "run for an actor with onEnd") { work in
            lifetime.run(
                for: counter(),
                work: work,
                deliver: { _, _ in },
                onError: { _, _ in never() },
                onEnd: { _, _ in never() }
            )
        },
        Form(testDescription: "forEach") { work in
            lifetime.forEach(
                AsyncThrowingStream { try await work() },
                for: model(),
                perform: { _, _ in },
                onError: { _, _ in never() }
            )
        },
        Form(testDescription: "forEach for an actor") { work in
            lifetime.forEach(
                AsyncThrowingStream { try await work() },
                for: counter(),
                perform: { _, _ in },
                onError: { _, _ in never() }
            )
        },
        Form(testDescription: "run of a store") { work in
            store.run(forKey: 1, for: model(), work: work, deliver: { _, _ in }, onError: { _, _ in never() })
        },
        Form(testDescription: "run of a slot") { work in
            slot.run(for: model(), work: work, deliver: { _, _ in }, onError: { _, _ in never() })
        },
    ]

    private static func never() { Issue.record("The owner was deallocated.") }

    @Test(arguments: forms) func anErrorThatConcernsOnlyAReleasedOwnerIsNotReported(_ form: Form) async throws {
        let events = await EventLog.events {
            let outcome = await form.start { throw MarkedError() }.value
            guard case .failed = outcome else {
                Issue.record("\(outcome)")
                return
            }
        }
        #expect(events.contains { $0.kind == .workFailed })
        #expect(events.filter { $0.kind == .unhandledError }.isEmpty)
    }

    @Test func anErrorWithoutAHandlerIsReportedAlsoIfTheOwnerWasReleased() async throws {
        let events = await EventLog.events {
            _ = await Self.lifetime.run(for: Self.model()) { () -> Int in
                throw MarkedError()
            } deliver: { _, _ in
            }
            .value
        }
        #expect(events.contains { $0.kind == .unhandledError })
    }
}
