import TaskControlHTTP

/// A server takes a request and never answers. Who waits, for how long, and is the request cancelled?
struct HangsChapter: Chapter {
    let name = "hangs"
    let title = "The one that hangs"

    private static let limit = Duration.milliseconds(300)
    /// A limit that is never reached here.
    private static let farLimit = Duration.seconds(60)

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let naive = try await waitWithoutLimit(tour)
        let limited = try await limit(tour)
        let stubborn = try await limitStubborn(tour)
        let detached = try await limitDetached(tour)
        let bridged = try await limitBridged(tour)
        let nested = try await nest(tour)
        let timeout = Ending.timeout(Self.limit)
        return Report(
            naive: ["no limit: after \((Self.limit * 3).inMilliseconds), \(naive.ended) calls have ended"],
            taskControl: [
                "withTimeout: \(limited.ending), after \(limited.time.inMilliseconds)",
                "withDetachedTimeout, cancellation is ignored: \(detached.ending)",
                "withTimeout over withCancellableContinuation: \(bridged.ending)",
            ],
            claims: [
                Claim("naive: nothing ends the call, nor the request", [naive.ended, naive.held], is: [0, 1]),
                Claim("withTimeout: the caller has a TimeoutError", limited.ending, is: timeout),
                Claim("withTimeout: not before the limit", limited.time) { $0 >= Self.limit },
                Claim("withTimeout: the server sees the client leave", limited.gone, is: 1),
                Claim("withTimeout: the caller is not cancelled, and asks on", limited.next, is: .answered("news")),
                Claim("withTimeout: what ignores its cancellation is waited for", stubborn.waits, is: true),
                Claim("withTimeout: an answer after the limit does not count", stubborn.ending, is: timeout),
                Claim(
                    "withDetachedTimeout: the caller has a TimeoutError, whatever the work does",
                    detached.ending,
                    is: timeout
                ),
                Claim("withDetachedTimeout: the work still goes on then", detached.goesOn, is: true),
                Claim("withDetachedTimeout: it ends in its own time, and nothing leaks", detached.isReturned, is: true),
                Claim("withCancellableContinuation: the caller has a TimeoutError", bridged.ending, is: timeout),
                Claim("withCancellableContinuation: the server sees the client leave", bridged.gone, is: 1),
                Claim("nested: the inner limit is over first, and is the inner's", nested.inner, is: timeout),
                Claim("nested: the outer does not take it for its own", nested.outer, is: .answered("news")),
                Claim("nested: an outer limit that is over first is the outer's", nested.nearOuter, is: timeout),
                Claim("nested: for the inner that is a cancellation", nested.farInner, is: .cancellation),
            ]
        )
    }

    /// Plays an act, in which the server answers all but what is asked about the page.
    @MainActor
    private func play<Result>(
        _ act: String,
        on tour: Tour,
        _ play: @MainActor (Stage, API, LegacyClient) async throws -> Result
    ) async throws -> Result {
        try await tour.act(act, of: self) { stage, api in
            let legacy = LegacyClient(address: api.address)
            defer { legacy.close() }
            stage.open(except: "page")
            // Cold connections take their time, and limits are short here.
            _ = try await api.ask("weather")
            _ = try await legacy.ask("weather")
            return try await play(stage, api, legacy)
        }
    }

    @MainActor
    private func waitWithoutLimit(_ tour: Tour) async throws -> (ended: Int, held: Int) {
        try await play("naive", on: tour) { stage, api, _ in
            let before = api.calls.value.ended
            let call = Task { try await api.ask("page") }
            try await stage.visits.expect("the request") { $0.hasReceived("page") }
            try await Task.sleep(for: Self.limit * 3)
            let (ended, held) = (api.calls.value.ended - before, stage.visits.value.inFlight("page"))
            call.cancel()
            _ = await call.result
            return (ended, held)
        }
    }

    @MainActor
    private func limit(_ tour: Tour) async throws -> (ending: Ending, time: Duration, gone: Int, next: Ending) {
        try await play("withTimeout", on: tour) { stage, api, _ in
            let start = ContinuousClock.now
            let ending = await Ending(.of { try await withTimeout(Self.limit) { try await api.ask("page") } })
            let time = ContinuousClock.now - start
            try await stage.visits.expect("the client to leave") { $0.hasEnded("page") }
            let next = await Ending(.of { try await api.ask("news") })
            return (ending, time, stage.visits.value.gone, next)
        }
    }

    @MainActor
    private func limitStubborn(_ tour: Tour) async throws -> (ending: Ending, waits: Bool) {
        try await play("withTimeout, cancellation is ignored", on: tour) { stage, _, legacy in
            let (isLimitOver, hasReturned) = (Observed(false), Observed(false))
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
            return (Ending(await call.result), waits)
        }
    }

    @MainActor
    private func limitDetached(_ tour: Tour) async throws -> (ending: Ending, goesOn: Bool, isReturned: Bool) {
        try await play("withDetachedTimeout, cancellation is ignored", on: tour) { stage, _, legacy in
            let (hasReturned, hasEnded, isReturned) = (Observed(false), Observed(false), Observed(false))
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
            return (Ending(await call.result), goesOn, isLetGo.failure == nil)
        }
    }

    @MainActor
    private func limitBridged(_ tour: Tour) async throws -> (ending: Ending, gone: Int) {
        try await play("withTimeout, withCancellableContinuation", on: tour) { stage, _, legacy in
            let call = Task { try await withTimeout(Self.limit) { try await legacy.ask("page") } }
            _ = await Result.of { try await stage.visits.expect("the client to leave") { $0.gone > 0 } }
            let gone = stage.visits.value.gone
            // For one that has not left.
            stage.answer("page")
            return (Ending(await call.result), gone)
        }
    }

    @MainActor
    private func nest(_ tour: Tour) async throws -> (inner: Ending, outer: Ending, farInner: Ending, nearOuter: Ending)
    {
        try await play("nested", on: tour) { _, api, _ in
            /// Asks about the page with an inner limit, and then about the news, with an outer limit.
            func ask(_ inner: Duration, within outer: Duration) async -> (inner: Ending, outer: Ending) {
                var ending = Ending.other("not called")
                let all = await Ending(
                    .of {
                        try await withTimeout(outer) {
                            ending = await Ending(.of { try await withTimeout(inner) { try await api.ask("page") } })
                            return try await api.ask("news")
                        }
                    }
                )
                return (ending, all)
            }
            let near = await ask(Self.limit, within: Self.farLimit)
            let far = await ask(Self.farLimit, within: Self.limit)
            return (near.inner, near.outer, far.inner, far.outer)
        }
    }
}
