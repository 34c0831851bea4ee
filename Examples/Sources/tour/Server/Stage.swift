import FlyingFox
import FlyingSocks
import Foundation

/// The server's part in one act: it counts the requests and holds each answer until the act lets it go.
///
/// Acts say *when* an answer goes out by events, not by delays: what they measure does not depend on how fast the machine is.
final class Stage: Sendable {
    let visits = Observed(Visits())

    /// Answers all that is held, and from now on at once.
    func open() {
        visits.update { visits in
            visits.isOpen = true
            for index in visits.all.indices { visits.all[index].mayBeAnswered = true }
        }
    }

    /// Answers what was asked about one subject.
    func answer(_ subject: String) {
        visits.update { visits in
            for index in visits.all.indices where visits.all[index].subject == subject {
                visits.all[index].mayBeAnswered = true
            }
        }
    }

    /// There is news: requests that come from now on are told the next edition.
    func publish() {
        visits.update { $0.edition += 1 }
    }

    /// Handles a request; returns when the answer may go out, or when the client has left.
    func handle(_ request: HTTPRequest, subject: String, pool: some AsyncSocketPool) async throws -> HTTPResponse {
        let index = visits.update { $0.arrive(subject: subject) }
        guard await clientStays(for: index, request, pool) else {
            visits.update { $0.all[index].phase = .gone }
            return HTTPResponse(statusCode: .requestTimeout)
        }
        let visit = visits.update { visits in
            visits.all[index].phase = .answering
            return visits.all[index]
        }
        let answer = try JSONEncoder().encode(Answer(subject: visit.subject, edition: visit.edition))
        let delivery = Delivery { [visits] isComplete in
            visits.update { $0.all[index].phase = isComplete ? .completed : .gone }
        }
        return HTTPResponse(
            statusCode: .ok,
            headers: HTTPHeaders([.contentType: "application/json"]),
            body: HTTPBodySequence(from: TrackedBytes(bytes: answer, delivery: delivery), count: answer.count)
        )
    }

    /// - Returns: Whether the client was still there when its answer was let go.
    private func clientStays(for index: Int, _ request: HTTPRequest, _ pool: some AsyncSocketPool) async -> Bool {
        let connection = ClientConnection(of: request)
        return await withTaskGroup(of: Bool?.self) { group in
            group.addTask { [visits] in
                let isLetGo: Void? = try? await visits.wait { $0.all[index].mayBeAnswered }
                return isLetGo.map { true }
            }
            group.addTask {
                let isClosed: Void? = try? await connection?.waitForClose(in: pool)
                return isClosed.map { false }
            }
            defer { group.cancelAll() }
            for await outcome in group {
                if let outcome { return outcome }
            }
            return false
        }
    }
}
