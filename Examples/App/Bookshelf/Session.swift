import Observation
import TaskControl

/// The models of an account, and all of their tasks.
@MainActor final class Session {
    let feed: FeedModel
    let search: SearchModel
    let uploads: UploadsModel

    init(account: Account) {
        let server = Server(account: account)
        (feed, search) = (FeedModel(server: server), SearchModel(server: server))
        uploads = UploadsModel(server: server)
    }

    /// Cancels all tasks, refuses later ones, and waits for their end, at most five seconds.
    func end() async throws {
        let owners: [any TaskOwner] = [feed.loads, search.search, uploads.uploads]
        for owner in owners { owner.close() }
        try await withTimeout(.seconds(5)) {
            for owner in owners { try await owner.drain() }
        }
    }
}

/// Whether an account is logged in.
@MainActor @Observable final class AppModel {
    private(set) var session: Session?
    private(set) var problem: String?

    func logIn() {
        session = Session(account: Account(user: "reader", password: "classics"))
    }

    /// Ends the session. Nothing of the account is deleted, or shown to the next one, while a task of it runs.
    func logOut() async {
        do {
            try await session?.end()
            (session, problem) = (nil, nil)
        } catch {
            problem = "The session has not ended yet: \(error). Try again."
        }
    }
}
