import TaskControl
import TaskControlTesting

/// Pull to refresh, and pull again while it is under way: what happens to the second pull is a decision, and naive code takes none.
struct RefreshChapter: Chapter {
    let name = "refresh"
    let title = "Pull to refresh twice"

    private static let pulls = 5

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let naive = try await play(nil, as: "naive", on: tour)
        let preferPrevious = try await play(.preferPrevious, as: ".preferPrevious", on: tour)
        let wait = try await play(.wait, as: ".wait", on: tour)
        let keepLatest = try await play(.keepLatest, as: ".keepLatest", on: tour)
        let all = Self.pulls
        func shown(_ measured: [Int]) -> String {
            "\(measured[0]) requests, \(measured[1]) at once, edition \(measured[2]) of \(all) shown at the end"
        }
        return Report(
            naive: [shown(naive)],
            taskControl: [
                ".preferPrevious: \(shown(preferPrevious))", ".wait: \(shown(wait))",
                ".keepLatest: \(shown(keepLatest))",
            ],
            claims: [
                Claim("naive: every pull is a request beside the others", naive, is: [all, all, 1]),
                Claim(
                    ".preferPrevious: one request, and the pulls share what it brings",
                    preferPrevious,
                    is: [1, 1, 1]
                ),
                Claim(
                    ".wait: every pull is a request, one after the other, and the last has the last word",
                    wait,
                    is: [all, 1, all]
                ),
                Claim(
                    ".keepLatest: the first and the last pull are requests, and the newest edition is shown",
                    keepLatest,
                    is: [2, 1, all]
                ),
            ]
        )
    }

    /// Plays one version of the screen, with the behavior of its slot; `nil` for the naive version. Returns the number of requests, the
    /// largest number of them at once, and the edition that is shown at the end.
    @MainActor
    private func play(
        _ behavior: TaskStoreDuplicateKeyBehavior?,
        as act: String,
        on tour: Tour
    ) async throws -> [Int] {
        try await tour.act(act, of: self) { stage, api in
            let model = NewsModel(api: api, behavior: behavior ?? .preferPrevious)
            var pulls: [any Endable] = []
            for number in 1...Self.pulls {
                if number > 1 { stage.publish() }
                pulls.append(behavior == nil ? model.naivePull(number) : model.pull(number))
                // The first request must be under way before the next pull. A naive pull is known to send one as well, and what it is to
                // tell is known when it arrives.
                if number == 1 || behavior == nil {
                    try await stage.visits.expect("the request of pull \(number)") { $0.received == number }
                }
            }
            if behavior == nil {
                // The order of the answers is the seed's, except that the first request, on a cold connection, is the last to be answered.
                var generator = SeededGenerator(seed: tour.seed)
                for number in (2...Self.pulls).shuffled(using: &generator) + [1] {
                    stage.answer("news for pull \(number)")
                    try await pulls[number - 1].expectEnd("pull \(number)")
                }
            }
            stage.open()
            for pull in pulls { try await pull.expectEnd("each pull") }
            try await stage.visits.expect("all requests to end") { $0.inFlight == 0 }
            let visits = stage.visits.value
            return [visits.received, visits.mostInFlight, model.shownEdition]
        }
    }
}

@MainActor
private final class NewsModel {
    private(set) var shownEdition = 0
    private let api: API
    private let refreshes: TaskSlot

    /// Creates a model. A naive pull ignores the behavior.
    init(api: API, behavior: TaskStoreDuplicateKeyBehavior) {
        self.api = api
        refreshes = TaskSlot(name: "refresh", behavior: behavior)
    }

    func naivePull(_ number: Int) -> any Endable {
        Task<Void, Never> {
            guard let news = try? await api.ask("news for pull \(number)") else { return }
            shownEdition = news.edition
        }
    }

    func pull(_ number: Int) -> any Endable {
        refreshes.run(for: self) { [api] in
            try await api.ask("news for pull \(number)")
        } deliver: { model, news in
            model.shownEdition = news.edition
        } onError: { _, _ in
            // Like the naive pull, this one does not show errors.
        }
    }
}
