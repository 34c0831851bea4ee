import TaskControl

/// Search as you type: answers come back in another order than the queries went out.
struct SearchChapter: Chapter {
    let name = "search"
    let title = "Search as you type"

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let script = SearchScript(seed: tour.seed)
        let typed = script.keystrokes.count
        let naive = try await play(script, as: "naive", on: tour) { NaiveSearchModel(api: $0) }
        let latest = try await play(script, as: ".cancelPrevious", on: tour) {
            SearchModel(api: $0, name: "search, .cancelPrevious", behavior: .cancelPrevious(wait: false))
        }
        let debounced = try await play(script, as: ".debounce", awaitsEveryRequest: false, on: tour) {
            SearchModel(api: $0, name: "search, .debounce", behavior: .debounce(for: .milliseconds(120)))
        }
        return Report(
            naive: ["\(naive.visits.received) requests for \(typed) keystrokes, last shown: \(naive.shown)"],
            taskControl: [
                ".cancelPrevious: \(latest.visits.completed) of \(latest.visits.received) answered, last shown: \(latest.shown)",
                ".debounce: \(debounced.visits.received) requests, last shown: \(debounced.shown)",
            ],
            claims: [
                Claim("naive: every keystroke is a request", naive.visits.received, is: typed),
                Claim("naive: every answer is served", naive.visits.completed, is: typed),
                Claim("naive: old results replace newer ones", naive.stale) { $0 > 0 },
                Claim("naive: an old result stays on the screen", naive.shown, is: script.slowestQuery),
                Claim(".cancelPrevious: no old result replaces a newer one", latest.stale, is: 0),
                Claim(".cancelPrevious: the last query is shown", latest.shown, is: script.lastQuery),
                Claim(
                    ".cancelPrevious: queries that were typed over are not answered",
                    holds: latest.visits.completed < typed
                        && latest.visits.completed + latest.visits.gone == latest.visits.received,
                    measured:
                        "\(latest.visits.completed) answered, \(latest.visits.gone) ended of \(latest.visits.received)"
                ),
                Claim(".debounce: no old result replaces a newer one", debounced.stale, is: 0),
                Claim(".debounce: the last query is shown", debounced.shown, is: script.lastQuery),
                Claim(".debounce: fewer requests than keystrokes", debounced.visits.received) { $0 < typed },
            ]
        )
    }

    /// Types the script into one version of the screen. The next key is typed only when the server has received the query of the key before; for a model
    /// that sends fewer requests, the script waits only at the end of a word.
    @MainActor
    private func play(
        _ script: SearchScript,
        as act: String,
        awaitsEveryRequest: Bool = true,
        on tour: Tour,
        model makeModel: (API) -> any SearchScreen
    ) async throws -> (visits: Visits, stale: Int, shown: String) {
        try await tour.act(act, of: self) { stage, api in
            let model = makeModel(api)
            var tasks: [String: any Endable] = [:]

            func answer(_ query: String) async throws {
                guard stage.visits.value.hasReceived(query) else { return }
                stage.answer(query)
                try await stage.visits.expect("\(query) to end") { $0.hasEnded(query) }
                try await tasks[query]?.expectEnd("the search for \(query)")
            }

            for keystroke in script.keystrokes {
                let query = keystroke.query
                tasks[query] = model.textChanged(query)
                if awaitsEveryRequest || keystroke.endsWord {
                    try await stage.visits.expect("the query \(query)") { $0.hasReceived(query) }
                } else {
                    // The typist's pace. If the machine is slower than that, a quiet time may end within a word: one request more.
                    try await Task.sleep(for: .milliseconds(4))
                }
                try await letLeave(tasks, from: stage)
                for query in keystroke.answersBeforeNext { try await answer(query) }
            }
            for (query, task) in tasks { try await task.expectEnd("the search for \(query)") }
            let stale = zip(model.history, model.history.dropFirst()).count { $1.count < $0.count }
            return (stage.visits.value, stale, model.history.last ?? "")
        }
    }

    /// Waits until the server knows which of its clients were cancelled, so that it answers no client that has just left.
    @MainActor
    private func letLeave(_ tasks: [String: any Endable], from stage: Stage) async throws {
        for (query, task) in tasks where task.isCancelled {
            try await task.expectEnd("the cancelled search for \(query)")
            guard stage.visits.value.hasReceived(query) else { continue }
            try await stage.visits.expect("the client that asked for \(query) to leave") { $0.hasEnded(query) }
        }
    }
}
