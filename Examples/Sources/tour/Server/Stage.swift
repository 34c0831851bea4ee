import FlyingFox
import FlyingSocks
import Foundation

/// The server's part in one act: it counts the requests, and holds each answer until the act releases the answer.
///
/// Acts determine *when* an answer is sent by events, not by delays: their measurements do not depend on the speed of the machine.
final class Stage: Sendable {
    let visits = Observed(Visits())
    private let rule: Rule

    init(rule: @escaping Rule) { self.rule = rule }

    /// Answers all held requests, and answers later requests at once, except those about one subject.
    func open(except subject: String? = nil) {
        visits.update { ($0.isOpen, $0.keptBack) = (true, subject) }
        answer { $0 != subject }
    }

    /// Answers the requests about one subject.
    func answer(_ subject: String) { answer { $0 == subject } }

    private func answer(where isAnswered: (String) -> Bool) {
        visits.update { visits in
            for index in visits.all.indices where isAnswered(visits.all[index].subject) {
                visits.all[index].mayBeAnswered = true
            }
        }
    }

    /// Publishes the next edition: requests that come from now on receive it.
    func publish() { visits.update { $0.edition += 1 } }

    /// Handles a request; returns when the answer may go out, or when the client has left.
    func handle(_ request: HTTPRequest, subject: String, pool: some AsyncSocketPool) async throws -> HTTPResponse {
        let token = request.headers[.authorization].flatMap { Int($0.drop { !$0.isNumber }) }
        let index = visits.update { $0.arrive(subject: subject, token: token, rule: rule) }
        guard await clientStays(for: index, request, pool) else {
            visits.update { $0.all[index].phase = .gone }
            return HTTPResponse(statusCode: .requestTimeout)
        }
        let visit = visits.update { visits in
            visits.all[index].phase = .answering
            return visits.all[index]
        }
        let answer = try JSONEncoder().encode(Answer(subject: visit.subject, edition: visit.edition))
        let breaksOff = visit.reply == .breakOff
        let bytes = AnswerBytes(answer, breaksOff: breaksOff) { [visits] isComplete in
            visits.update { $0.all[index].phase = isComplete ? .completed : breaksOff ? .brokenOff : .gone }
        }
        var headers = HTTPHeaders([.contentType: "application/json"])
        if let seconds = visit.reply.retryAfter { headers[HTTPHeader("Retry-After")] = "\(seconds)" }
        let body = HTTPBodySequence(from: bytes, count: answer.count)
        return HTTPResponse(statusCode: visit.reply.status, headers: headers, body: body)
    }

    /// Waits until an answer may be sent, or the client has closed its connection; returns whether the client is still there.
    private func clientStays(for index: Int, _ request: HTTPRequest, _ pool: some AsyncSocketPool) async -> Bool {
        // Not held at all: no need to look for the connection, which takes a while.
        if visits.value.all[index].mayBeAnswered { return true }
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
