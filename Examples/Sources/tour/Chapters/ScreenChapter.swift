import TaskControl

/// The screen closes while it loads: does its work end when no reader is left?
struct ScreenChapter: Chapter {
    let name = "screen"
    let title = "The screen closes while it loads"

    private static let requests = 50

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let naive = try await play(NaiveFeedModel.self, as: "naive", on: tour)
        let controlled = try await play(FeedModel.self, as: "AsyncLifetime.run(for:)", on: tour)
        let all = Self.requests
        return Report(
            naive: ["\(naive.visits.completed) of \(all) requests answered for nobody"],
            taskControl: [
                "\(controlled.visits.completed) of \(all) requests answered for nobody, \(controlled.visits.gone) ended early"
            ],
            claims: [
                Claim("naive: the owner lives on when the screen is closed", naive.ownerOutlivesScreen, is: true),
                Claim(
                    "naive: the owner goes only when the last answer is there",
                    naive.answersBeforeOwnerWent,
                    is: all
                ),
                Claim("naive: all answers are served for nobody", naive.visits.completed, is: all),
                Claim("TaskControl: the owner goes with the screen", controlled.ownerOutlivesScreen, is: false),
                Claim("TaskControl: the owner goes before any answer", controlled.answersBeforeOwnerWent, is: 0),
                Claim("TaskControl: the server sees every client leave", controlled.visits.gone, is: all),
                Claim("TaskControl: no answer is served for nobody", controlled.visits.completed, is: 0),
            ]
        )
    }

    @MainActor
    private func play<Model: ScreenModel>(_: Model.Type, as act: String, on tour: Tour) async throws -> (
        ownerOutlivesScreen: Bool, answersBeforeOwnerWent: Int, visits: Visits
    ) {
        try await tour.act(act, of: self) { stage, api in
            let ownerWent = Observed<Int?>(nil)
            var model: Model? = Model(api: api, ownerWent: ownerWent)
            weak let owner = model
            model?.load(Self.requests)
            try await stage.visits.expect("\(Self.requests) requests") { $0.received == Self.requests }

            model = nil
            let ownerOutlivesScreen = owner != nil

            if !ownerOutlivesScreen {
                try await stage.visits.expect("the clients to leave") { $0.inFlight == 0 }
            }
            // Clients that are still connected get an answer.
            stage.open()
            try await stage.visits.expect("all requests to end") { $0.inFlight == 0 }
            try await api.calls.expect("all calls to end") { $0.ended == Self.requests }
            try await ownerWent.expect("the owner to go") { $0 != nil }
            return (ownerOutlivesScreen, ownerWent.value ?? -1, stage.visits.value)
        }
    }
}

@MainActor
private class ScreenModel {
    fileprivate(set) var items: [Answer] = []
    fileprivate let api: API
    private let ownerWent: Observed<Int?>

    /// Creates a model. `ownerWent` receives on `deinit` the number of answers that had come by then.
    required init(api: API, ownerWent: Observed<Int?>) { (self.api, self.ownerWent) = (api, ownerWent) }

    func load(_ count: Int) {}

    deinit {
        let answers = api.calls.value.answered
        ownerWent.update { $0 = answers }
    }
}

private final class NaiveFeedModel: ScreenModel {
    override func load(_ count: Int) {
        for number in 1...count {
            Task {
                guard let item = try? await api.ask("item \(number)") else { return }
                items.append(item)
            }
        }
    }
}

private final class FeedModel: ScreenModel {
    private let lifetime = AsyncLifetime(name: "feed")

    override func load(_ count: Int) {
        for number in 1...count {
            lifetime.run(for: self) { [api] in
                try await api.ask("item \(number)")
            } deliver: { model, item in
                model.items.append(item)
            }
        }
    }
}
