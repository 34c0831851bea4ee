/// A server takes a request and never answers. Who waits, for how long, and is the request cancelled?
struct HangsChapter: Chapter {
    let name = "hangs"
    let title = "The one that hangs"

    static let limit = Duration.milliseconds(300)
    /// The time after which the calls without a limit are examined.
    static let patience = limit * 3
    /// A limit that is never reached here.
    static let farLimit = Duration.seconds(60)

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let naive = try await waitWithoutLimit(tour)
        let limited = try await limit(tour)
        let stubborn = try await limitStubborn(tour)
        let detached = try await limitDetached(tour)
        let bridged = try await limitBridged(tour)
        let nested = try await nest(tour)
        return Report(
            naive: [
                "no limit: after \(naive.looked.inMilliseconds) the caller \(naive.calls == 0 ? "still waits" : "has its answer")",
                "the server holds \(naive.held) request",
            ],
            taskControl: Report.group("withTimeout", limited.lines)
                + Report.group("withTimeout, cancellation is ignored", stubborn.lines)
                + Report.group("withDetachedTimeout, likewise", detached.lines)
                + Report.group("withTimeout over withCancellableContinuation", bridged.lines)
                + Report.group("nested", nested.lines),
            claims: [
                Claim("naive: nothing ends the call, nor the request", [naive.calls, naive.held], is: [0, 1]),
                Claim("withTimeout: the caller has a TimeoutError", limited.ending, is: .timeout(Self.limit)),
                Claim(
                    "withTimeout: not before the limit",
                    holds: limited.time >= Self.limit,
                    measured: limited.time.inMilliseconds
                ),
                Claim("withTimeout: the server sees the client leave", limited.gone, is: 1),
                Claim("withTimeout: the caller is not cancelled, and asks on", limited.next, is: .answered("news")),
                Claim("withTimeout: what ignores its cancellation is waited for", stubborn.waits, is: true),
                Claim(
                    "withTimeout: an answer after the limit does not count",
                    stubborn.ending,
                    is: .timeout(Self.limit)
                ),
                Claim(
                    "withDetachedTimeout: the caller has a TimeoutError, whatever the work does",
                    detached.ending,
                    is: .timeout(Self.limit)
                ),
                Claim("withDetachedTimeout: the work still goes on then", detached.goesOn, is: true),
                Claim("withDetachedTimeout: it ends in its own time, and nothing leaks", detached.isReturned, is: true),
                Claim(
                    "withCancellableContinuation: the caller has a TimeoutError",
                    bridged.ending,
                    is: .timeout(Self.limit)
                ),
                Claim("withCancellableContinuation: the server sees the client leave", bridged.gone, is: 1),
                Claim(
                    "nested: the inner limit is over first, and is the inner's",
                    nested.inner,
                    is: .timeout(Self.limit)
                ),
                Claim("nested: the outer does not take it for its own", nested.outer, is: .answered("news")),
                Claim(
                    "nested: an outer limit that is over first is the outer's",
                    nested.nearOuter,
                    is: .timeout(Self.limit)
                ),
                Claim("nested: for the inner that is a cancellation", nested.farInner, is: .cancellation),
            ]
        )
    }
}
