import Foundation
import TaskControlTesting
import Testing

@testable import TaskControl
@testable import TaskControlHTTP

/// The contents of the events of requests, and what is never in them.
@Suite(.timeLimit(.minutes(15)))
struct EventTests {
    private final class Log: TaskObserver {
        @TaskLocal static var current: Log?
        let recorder = OrderRecorder<TaskEvent>()

        func receive(_ event: TaskEvent) { Self.current?.recorder.record(event) }
    }

    private static let shared: Log = {
        let log = Log()
        TaskDiagnostics.install(log)
        return log
    }()

    private func events(of body: () async throws -> Void) async rethrows -> [TaskEvent] {
        _ = Self.shared
        let log = Log()
        try await Log.$current.withValue(log, operation: body)
        return log.recorder.events
    }

    @Test func eachAttemptIsToldWithWhatCameOfIt() async throws {
        let transport = ScriptedTransport(.status(503, "secret body"), .ok("in"))
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(retry: .atOnce)
        )
        let events = try await events { _ = try await client.request(Text()) }
        let own = events.filter { $0.primitive == .http }
        #expect(own.map(\.kind) == [.started, .failed, .started, .completed])
        #expect(own.map(\.attempt) == [1, 1, 2, 2])
        #expect(own.map(\.status) == [nil, 503, nil, 200])
        #expect(own.filter { $0.kind == .started }.allSatisfy { $0.detail?.hasPrefix("GET http") == true })
        #expect(Set(own.compactMap(\.owner)).count == 1 && Set(own.compactMap(\.subject)).count == 2)
        #expect(events.filter { $0.primitive == .retry }.map(\.kind) == [.failed, .waiting, .retrying, .succeeded])
        #expect(!events.contains { $0.description.contains("secret body") })
    }

    @Test func errorsOfFoundationAreShownByTheNameOfTheirCode() async throws {
        let lost = URLError(.networkConnectionLost, userInfo: [NSURLErrorFailingURLErrorKey: "https://h/?token=hush"])
        let client = EndpointClient(ScriptedTransport(.unreachable(lost)), policies: ClientPolicies(retry: .atOnce))
        let events = await events { await #expect(throws: EndpointError.self) { try await client.request(Text()) } }
        let errors = events.compactMap(\.error)
        #expect(Set(events.filter { $0.error != nil }.map(\.primitive)) == [.http, .retry])
        #expect(errors.allSatisfy { $0.contains("URLError(networkConnectionLost)") && !$0.contains("hush") })
        // The core alone, for an error that no client wraps.
        #expect(Diagnostics.text(of: lost) == "URLError(networkConnectionLost)")
        let unnamed: URLError.Code? = URLError.Code(rawValue: -4242)
        if let unnamed { #expect(Diagnostics.text(of: URLError(unnamed)) == "URLError(-4242)") }
    }

    /// The table has each code of this platform's Foundation that transports throw.
    @Test func everyCodeOfATransportHasAName() {
        let codes: [URLError.Code] = [
            .unknown, .cancelled, .badURL, .timedOut, .unsupportedURL, .cannotFindHost, .cannotConnectToHost,
            .networkConnectionLost, .dnsLookupFailed, .httpTooManyRedirects, .resourceUnavailable,
            .notConnectedToInternet, .redirectToNonExistentLocation, .badServerResponse, .secureConnectionFailed,
            .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired, .fileDoesNotExist,
            .fileIsDirectory, .noPermissionsToReadFile, .cannotDecodeContentData, .cannotParseResponse,
            .userAuthenticationRequired, .requestBodyStreamExhausted, .dataNotAllowed,
            .appTransportSecurityRequiresSecureConnection, .zeroByteResource, .dataLengthExceedsMaximum,
        ]
        for code in codes { #expect(!URLError(code).eventText.contains("-"), "\(code)") }
    }

    @Test func eventsHaveTheNameOfTheClient() async throws {
        let transport = ScriptedTransport { sent in sent.authorization == "Bearer new" ? .ok("in") : .status(401) }
        let policies = ClientPolicies(authenticator: .bearer(initial: "old") { _ in "new" })
        let client = EndpointClient(transport, name: "books", policies: policies)
        #expect(client.name == "books")
        let events = try await events { _ = try await client.request(Text()) }.filter {
            $0.primitive == .http && $0.owner != nil
        }
        #expect(Set(events.map(\.kind)) == [.started, .failed, .rejected, .completed])
        #expect(events.allSatisfy { $0.ownerName == "books" })
        let unnamed = EndpointClient(ScriptedTransport(.ok("in")))
        #expect(try await self.events { _ = try await unnamed.request(Text()) }.allSatisfy { $0.ownerName == nil })
    }

    @Test func aRejectionAndItsRefreshAreTold() async throws {
        let transport = ScriptedTransport { sent in
            sent.authorization == "Bearer new-secret-token" ? .ok("in") : .status(401, "out")
        }
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(authenticator: .bearer(initial: "old-secret-token") { _ in "new-secret-token" })
        )
        let events = try await events { _ = try await client.request(Text()) }
        #expect(
            events.filter { $0.primitive == .http }.map(\.kind) == [
                .started, .failed, .rejected, .started, .refreshing, .refreshed, .completed,
            ]
        )
        #expect(
            events.filter { $0.primitive == .singleFlight && $0.kind == .started }.map(\.key) == [
                "refresh of a credential"
            ]
        )
        #expect(!events.contains { $0.description.contains("secret-token") })
    }

    @Test func noHeaderNoBodyAndNoQueryIsEverInAnEvent() async throws {
        let transport = ScriptedTransport { _ in .status(500, "body-secret") }
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(
                authenticator: .bearer(initial: "header-secret") { _ in "header-secret" },
                retry: .atOnce,
                timeout: .seconds(3_600),
                attemptTimeout: .seconds(3_600),
                coalescesGETRequests: true
            )
        )
        let endpoint = Text(path: "a?token=query-secret", headers: ["Cookie": "session=cookie-secret"])
        let events = await events {
            _ = try? await client.request(endpoint)
            _ = try? await retry(attempts: 1, backoff: .none) { try await client.request(endpoint) }
        }
        let everything = events.map { "\($0) \($0.detail ?? "") \($0.key ?? "")" }.joined(separator: "\n")
        #expect(events.contains { $0.primitive == .singleFlight } && events.contains { $0.primitive == .withTimeout })
        for secret in ["header-secret", "body-secret", "cookie-secret", "query-secret"] {
            #expect(!everything.contains(secret), "\(secret) in \(everything)")
        }
        #expect(everything.contains("key=GET http"))
    }
}

extension HTTPRetryPolicy {
    fileprivate static var atOnce: HTTPRetryPolicy { HTTPRetryPolicy(attempts: 2, backoff: .none) }
}
