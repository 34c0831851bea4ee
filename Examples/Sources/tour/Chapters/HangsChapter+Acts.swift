import TaskControlHTTP

/// In each act the server answers all but what is asked about the page.
extension HangsChapter {
    @MainActor
    private func play<Result>(
        _ act: String,
        on tour: Tour,
        _ play: @MainActor (Stage, API) async throws -> Result
    ) async throws -> Result {
        try await tour.act(act, of: self) { stage, api in
            stage.open(except: "page")
            // Cold connections take their time, and limits are short here.
            _ = try await api.ask("weather")
            return try await play(stage, api)
        }
    }

    struct Unlimited: Sendable {
        let looked: Duration
        let calls: Int
        let held: Int
    }

    @MainActor
    func waitWithoutLimit(_ tour: Tour) async throws -> Unlimited {
        try await play("naive", on: tour) { stage, api in
            let before = api.calls.value.ended
            let call = Task { try await api.ask("page") }
            try await stage.visits.expect("the request") { $0.hasReceived("page") }
            try await Task.sleep(for: Self.patience)
            let calls = api.calls.value.ended - before
            let held = stage.visits.value.inFlight("page")
            call.cancel()
            _ = await call.result
            try await stage.visits.expect("the client to leave") { $0.hasEnded("page") }
            return Unlimited(looked: Self.patience, calls: calls, held: held)
        }
    }

    struct Limited: Sendable {
        let ending: Ending
        let time: Duration
        let gone: Int
        let next: Ending

        var lines: [String] {
            ["\(ending), after \(time.inMilliseconds)", "\(gone) connection ended early", "then: \(next)"]
        }
    }

    @MainActor
    func limit(_ tour: Tour) async throws -> Limited {
        try await play("withTimeout", on: tour) { stage, api in
            let start = ContinuousClock.now
            let ending = await Ending(.of { try await withTimeout(Self.limit) { try await api.ask("page") } })
            let time = ContinuousClock.now - start
            try await stage.visits.expect("the client to leave") { $0.hasEnded("page") }
            let next = await Ending(.of { try await api.ask("news") })
            return Limited(ending: ending, time: time, gone: stage.visits.value.gone, next: next)
        }
    }

    struct Stubborn: Sendable {
        let ending: Ending
        let waits: Bool

        var lines: [String] {
            [
                waits ? "at the limit it still waits" : "at the limit it has returned",
                "when the answer is there: \(ending)",
            ]
        }
    }

    @MainActor
    func limitStubborn(_ tour: Tour) async throws -> Stubborn {
        try await play("withTimeout, cancellation is ignored", on: tour) { stage, api in
            let legacy = LegacyClient(address: api.address)
            defer { legacy.close() }
            let isLimitOver = Observed(false)
            let hasReturned = Observed(false)
            let call = Task {
                defer { hasReturned.update { $0 = true } }
                return try await withTimeout(Self.limit) {
                    try await withTaskCancellationHandler {
                        try await legacy.askStubbornly("page")
                    } onCancel: {
                        isLimitOver.update { $0 = true }
                    }
                }
            }
            try await isLimitOver.expect("the limit to be over") { $0 }
            // Time to return, for one that would.
            try await Task.sleep(for: Self.limit)
            let waits = !hasReturned.value
            stage.answer("page")
            return Stubborn(ending: Ending(await call.result), waits: waits)
        }
    }

    struct Detached: Sendable {
        let ending: Ending
        let goesOn: Bool
        let isReturned: Bool

        var lines: [String] {
            [
                "\(ending)",
                goesOn ? "the work goes on" : "the work has ended by then",
                isReturned ? "when it has ended, nothing is left of it" : "it ends and leaks",
            ]
        }
    }

    @MainActor
    func limitDetached(_ tour: Tour) async throws -> Detached {
        try await play("withDetachedTimeout, cancellation is ignored", on: tour) { stage, api in
            let legacy = LegacyClient(address: api.address)
            defer { legacy.close() }
            let hasReturned = Observed(false)
            let hasEnded = Observed(false)
            let isReturned = Observed(false)
            let call = Task { [lent = Lent(isReturned: isReturned)] in
                defer { hasReturned.update { $0 = true } }
                return try await withDetachedTimeout(Self.limit, name: "page") { [lent] in
                    defer { withExtendedLifetime(lent) { hasEnded.update { $0 = true } } }
                    return try await legacy.askStubbornly("page")
                }
            }
            try await hasReturned.expect("the caller to have its error, while the server does not answer") { $0 }
            try await stage.visits.expect("the request") { $0.hasReceived("page") }
            let goesOn = !hasEnded.value && !isReturned.value && stage.visits.value.inFlight("page") == 1
            stage.answer("page")
            try await hasEnded.expect("the work to end") { $0 }
            let isLetGo = await Result.of { try await isReturned.expect("the work to be let go of") { $0 } }
            return Detached(ending: Ending(await call.result), goesOn: goesOn, isReturned: isLetGo.failure == nil)
        }
    }

    struct Bridged: Sendable {
        let ending: Ending
        let gone: Int

        var lines: [String] { ["\(ending)", "\(gone) connection ended early"] }
    }

    @MainActor
    func limitBridged(_ tour: Tour) async throws -> Bridged {
        try await play("withTimeout, withCancellableContinuation", on: tour) { stage, api in
            let legacy = LegacyClient(address: api.address)
            defer { legacy.close() }
            // It has a session of its own, with cold connections.
            _ = try await legacy.ask("weather")
            let call = Task { try await withTimeout(Self.limit) { try await legacy.ask("page") } }
            _ = await Result.of { try await stage.visits.expect("the client to leave") { $0.gone > 0 } }
            let gone = stage.visits.value.gone
            // For one that has not left.
            stage.answer("page")
            return Bridged(ending: Ending(await call.result), gone: gone)
        }
    }

    struct Nested: Sendable {
        let inner: Ending
        let outer: Ending
        let farInner: Ending
        let nearOuter: Ending

        var lines: [String] {
            [
                "the inner is over first: \(inner); then \(outer)",
                "the outer is over first: \(nearOuter); inside: \(farInner)",
            ]
        }
    }

    @MainActor
    func nest(_ tour: Tour) async throws -> Nested {
        try await play("nested", on: tour) { stage, api in
            func page(_ limit: Duration) async -> Ending {
                await Ending(.of { try await withTimeout(limit) { try await api.ask("page") } })
            }
            var inner: Ending?
            let outer = await Ending(
                .of {
                    try await withTimeout(Self.farLimit) {
                        inner = await page(Self.limit)
                        return try await api.ask("news")
                    }
                }
            )
            var farInner: Ending?
            let nearOuter = await Ending(
                .of {
                    try await withTimeout(Self.limit) {
                        farInner = await page(Self.farLimit)
                        return try await api.ask("news")
                    }
                }
            )
            let unknown = Ending.other("not called")
            return Nested(inner: inner ?? unknown, outer: outer, farInner: farInner ?? unknown, nearOuter: nearOuter)
        }
    }
}
