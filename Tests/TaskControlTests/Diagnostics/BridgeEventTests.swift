import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The events of callback APIs: a value, an error, a cancellation, and each of their mistakes.
@Suite(.timeLimit(.minutes(15)))
struct BridgeEventTests {
    private let place = "\(#fileID):"

    @Test func aCallIsToldFromItsBeginningToItsValueOrError() async throws {
        let events = await EventLog.events {
            _ = try? await withCancellableContinuation(of: Int.self) { continuation in
                continuation.resume(returning: 1)
                return {}
            }
            _ = try? await withCancellableContinuation(of: Int.self) { continuation in
                continuation.resume(throwing: MarkedError("no"))
                return {}
            }
            _ = try? await withCancellableContinuation(of: Int.self) { _ -> @Sendable () -> Void in
                throw MarkedError("at once")
            }
        }
        #expect(events.map(\.kind) == [.started, .completed, .started, .failed, .started, .failed])
        #expect(
            events.map(\.error) == [nil, nil, nil, #"MarkedError(mark: "no")"#, nil, #"MarkedError(mark: "at once")"#]
        )
        #expect(events.filter { $0.kind == .started }.allSatisfy { $0.detail?.hasPrefix(place) == true })
        #expect(events.unpaired == [] && events.filter { $0.outcome != nil }.allSatisfy { $0.age != nil })
        #expect(Set(events.map(\.subject)).count == 3 && events.allSatisfy { $0.subject != nil })
    }

    @Test func aCancellationAndItsAnswerAreTold() async throws {
        try await EventLog.recording { recorder in
            let (kept, isKept) = (Locked<CancellableContinuation<Int>?>(nil), Gate())
            let caller = Task {
                try await withCancellableContinuation(of: Int.self) { continuation in
                    kept.withLock { $0 = continuation }
                    isKept.open()
                    return {}
                }
            }
            try await isKept.wait()
            caller.cancel()
            _ = await caller.result
            kept.withLock { $0 }?.resume(returning: 1)
            kept.withLock { $0 }?.resume(returning: 2)
            let kinds = recorder.events.map(\.kind)
            #expect(kinds == [.started, .cancelled, .left, .resumedAfterCancellation, .resumedAgain])
            #expect(Set(recorder.events.map(\.subject)).count == 1)
            #expect(recorder.events.prefix(3).unpairedOfSlice == [])
        }
    }

    @Test func aDroppedContinuationIsToldBeforeItsCallFails() async {
        let events = await EventLog.events {
            _ = try? await withCancellableContinuation(of: Int.self) { _ in {} }
        }
        #expect(events.map(\.kind) == [.started, .continuationDropped, .failed])
        #expect(events.unpaired == [] && Set(events.map(\.subject)).count == 1)
    }
}

extension ArraySlice<TaskEvent> {
    fileprivate var unpairedOfSlice: [String] { Array(self).unpaired }
}
