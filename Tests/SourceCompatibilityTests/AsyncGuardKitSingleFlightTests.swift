import TaskControl
import TaskControlTesting
import TestSupport
import Testing

// AsyncGuardKit's document: its single flights. Its models that use one are in `AsyncGuardKitDocumentTests`.

// MARK: What its code uses and does not show

private struct AuthClient: Sendable {
    func refreshAccessToken() async throws -> String { try await Backend.answer("token") }
    func refreshToken() async throws -> String { try await Backend.answer("token") }
}

private let authClient = AuthClient()
private let auth = AuthClient()

extension API {
    fileprivate func fetchProfile(_ userID: String) async throws -> Profile {
        Profile(name: try await Backend.answer("profile \(userID)"))
    }
}

// MARK: The document's types

enum APIKey: Hashable {
    case tokenRefresh
    case userProfile(id: String)
    case feedPage(cursor: String)
}

/// Public, as the key of a library is, for which Swift does not infer `Sendable`.
public enum LibraryKey: Hashable {
    case tokenRefresh
}

// MARK: - Single flight

@Suite(.timeLimit(.minutes(15)), .serialized, .oneUserOfTheRegistry)
struct AsyncGuardKitSingleFlightTests {
    let backend = HeldBackend()

    /// On the main actor, which runs each of them up to its wait before it comes back to the test.
    @Test @MainActor func aRefreshIsMadeOnceForAllWhoAskMeanwhile() async throws {
        let callers = backend.serving {
            (0..<10).map { _ in
                Task {
                    let token = try await withSingleFlight(key: "token-refresh") {
                        try await auth.refreshToken()
                    }
                    return token
                }
            }
        }
        try await backend.begun.wait()
        #expect(SingleFlightRegistry.shared.inFlightCount() >= 1)
        backend.released.open()

        for caller in callers { #expect(try await caller.value == "token") }
        #expect(backend.log.events == ["token"])
    }

    @Test func whoeverAsksGetsTheToken() async throws {
        backend.released.open()
        let answer = try await backend.serving {
            Task {
                // One network request. All concurrent callers share the result.
                let token = try await withSingleFlight(key: "token-refresh") {
                    try await authClient.refreshAccessToken()
                }
                return token
            }
        }.value
        #expect(answer == "token")
    }

    @Test func typedKeysPreventCollisions() async throws {
        let userID = "7"
        backend.released.open()
        let answer = try await backend.serving {
            Task {
                let profile = try await withSingleFlight(key: APIKey.userProfile(id: userID)) {
                    try await api.fetchProfile(userID)
                }
                return profile
            }
        }.value
        #expect(answer == Profile(name: "profile 7"))
    }

    @Test func aPublicKeyOfALibraryIsAKey() async throws {
        #expect(try await withSingleFlight(key: LibraryKey.tokenRefresh) { 7 } == 7)
    }
}
