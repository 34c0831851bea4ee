import Foundation
import TaskControlHTTP
import Testing

@testable import bookshelf

@Suite(.oneServerAtATime, .timeLimit(.minutes(15)))
struct ReportTests {
    @Test func whatWasNotDoneIsNamedWithHowFarItHadCome() {
        let report = BatchReport(
            verb: "uploaded",
            [
                .init(name: "a.png", outcome: .done), .init(name: "b.png", outcome: .done),
                .init(name: "c.png", outcome: .notDone(percent: 37)),
                .init(name: "d.png", outcome: .notDone(percent: nil)),
                .init(name: "e.png", outcome: .notDone(percent: nil)),
            ]
        )
        #expect(report.sentence == "uploaded 2 of 5; not uploaded: c.png (37 %), d.png, e.png")
        #expect(report.complaints.isEmpty)
        #expect(!report.isDone)
    }

    @Test func whatFailedForOneReasonIsOneComplaint() {
        var report = BatchReport(verb: "added", names: ["A", "B", "C", "D"])
        report.items[0].outcome = .failed("no server")
        report.items[1].outcome = .failed("too large")
        report.items[2].outcome = .failed("no server")
        report.items[3].outcome = .done
        #expect(report.sentence == "added 1 of 4; not added: A, B, C")
        #expect(report.complaints == ["A, C: no server", "B: too large"])
    }

    @Test func whenAllIsDoneNothingIsMissing() {
        let report = BatchReport(verb: "added", [.init(name: "A", outcome: .done)])
        #expect(report.isDone)
        #expect(report.sentence == "added 1 of 1")
    }

    @Test(
        arguments: [
            (EndpointError(.transport, underlyingError: URLError(.cannotConnectToHost)), "bookshelf serve"),
            (EndpointError(.transport, underlyingError: URLError(.timedOut)), "--timeout"),
            (EndpointError(.transport, underlyingError: URLError(.networkConnectionLost)), "--retries"),
            (EndpointError(.content), "--server"), (EndpointError(.unauthorized), "--token-lifetime"),
            (EndpointError(.request), "--server"),
            (TimeoutError(duration: .seconds(90)), "within 90s: give it more time with --timeout"),
            (CocoaError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: "/a/b"]), "/a/b: "),
        ] as [(any Error, String)]
    )
    func anErrorSaysInOneLineWhatToDo(error: any Error, words: String) {
        let text = Complaint(error, server: URL(string: "http://127.0.0.1:8080")!).text
        #expect(text.contains(words), "\(text)")
        #expect(!text.contains("\n"))
    }

    @Test func aServerWithoutTLSIsNotAskedMoreOften() async throws {
        try await BookServer.whileRunning { server in
            let port = try #require(server.address.port)
            let ending = try await Bookshelf.run("list", "--retries", "0", "--server", "https://127.0.0.1:\(port)")
            #expect(ending.status == 1)
            #expect(ending.messages.contains("begins with http://") && !ending.messages.contains("--retries"))
        }
    }

    @Test func whatTheServerSaysIsPassedOn() async throws {
        try await BookServer.whileRunning { server in
            let result = await Result.of { try await server.client().request(PageEndpoint(page: 99)) }
            let error = try #require(result.failure, "there is no page 99")
            let text = Complaint(error, server: server.address).text
            #expect(text == "\(server.address) answered 404: there is no such page")
        }
    }

    @Test(arguments: [
        (401, "{}", "--token-lifetime"), (403, "{}", "BOOKSHELF_PASSWORD"), (503, "{}", "--retries"),
        (404, #"{"title":"no such book"}"#, "answered 404: no such book"),
        (501, "<html>no</html>", "is not a bookshelf"),
    ])
    func aStatusSaysInOneLineWhatToDo(status: Int, body: String, words: String) throws {
        let url = URL(string: "http://127.0.0.1:8080")!
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
        )
        #expect {
            try EndpointError.validateStatus(of: response, to: nil, data: Data(body.utf8))
        } throws: { error in
            Complaint(error, server: url).text.contains(words)
        }
    }

    @Test func aWrongPasswordIsSaid() async throws {
        var settings = ServerSettings()
        settings.account.password = "another"
        try await BookServer.whileRunning(settings) { server in
            let result = await Result.of { try await server.client().request(PageEndpoint(page: 1)) }
            let error = try #require(result.failure, "the password is wrong")
            #expect(Complaint(error, server: server.address).text.contains("BOOKSHELF_PASSWORD"))
        }
    }

    @Test func anAttemptIsToldWithoutSecrets() throws {
        var request = URLRequest(url: URL(string: "http://user:pass@127.0.0.1/books/search?q=secret")!)
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        let response = HTTPURLResponse(url: request.url!, statusCode: 503, httpVersion: nil, headerFields: nil)
        let line = ServerOptions.line(request, response, Data("secret".utf8), EndpointError(.status))
        #expect(line == "  GET /books/search?q=…: 503, 6 bytes")
        #expect(ServerOptions.line(nil, nil, nil, CancellationError()) == "  ? ?: cancelled")
        #expect(ServerOptions.line(request, nil, nil, URLError(.timedOut)) == "  GET /books/search?q=…: failed")
    }
}
