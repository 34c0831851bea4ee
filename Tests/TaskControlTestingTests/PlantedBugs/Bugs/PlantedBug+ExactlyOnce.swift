/// Bugs that do something twice, or not at all, that must be done once.
extension PlantedBug {
    static let exactlyOnceBugs = [
        timeoutCommitsTwice, rotatedToken, debounceSubmitsTwice, lostGroupResult, impatientUpdate, treiberStack,
    ]

    // MARK: A timeout that is retried although the first attempt succeeds

    private actor Bank {
        private var keys: [Int] = []
        private(set) var charges = 0

        func charge(key: Int) {
            if keys.contains(key) { return }
            keys.append(key)
            charges += 1
        }
    }

    /// The twin gives both attempts one idempotency key.
    private static let timeoutCommitsTwice = PlantedBug(
        "retry after a timeout commits twice",
        .exactlyOnce
    ) { world, isFixed in
        let bank = Bank()
        for attempt in 0..<2 {
            let hasAnswered = await withTaskGroup(of: Bool.self) { group in
                group.addTask {
                    await world.pause()
                    await bank.charge(key: isFixed ? 0 : attempt)
                    return true
                }
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(8))
                    return false
                }
                defer { group.cancelAll() }
                return await group.next()!
            }
            if hasAnswered { break }
        }
        world.expect(await bank.charges == 1, "the customer is charged once")
    }

    // MARK: A refresh token that is used twice

    private actor TokenServer {
        private var valid = 0
        private(set) var isRevoked = false

        func rotate(_ token: Int) -> Int {
            if token == valid { valid += 1 } else { isRevoked = true }
            return valid
        }
    }

    private actor Session {
        private var token = 0
        private var rotating: Task<Int, Never>?

        func current() -> Int { token }

        func rotate(_ used: Int, at server: TokenServer, isFixed: Bool) async {
            if isFixed, used != token { return }
            if let rotating {
                _ = await rotating.value
                return
            }
            let task = Task { await server.rotate(used) }
            rotating = task
            token = await task.value
            rotating = nil
        }
    }

    /// Callers share a rotation that is under way; the bug is a caller that comes after it, with the token from before.
    private static let rotatedToken = PlantedBug("refresh token used twice", .exactlyOnce) { world, isFixed in
        let (server, session) = (TokenServer(), Session())
        @Sendable func request() async {
            let used = await session.current()
            await world.pause()  // the answer: the access token has expired
            await session.rotate(used, at: server, isFixed: isFixed)
        }
        async let one: Void = request()
        async let other: Void = request()
        _ = await (one, other)
        world.expect(await !server.isRevoked, "no refresh token is used twice")
    }

    // MARK: A debounce that submits twice

    private actor Debouncer {
        private(set) var submissions: [Int] = []
        private(set) var latest = 0
        private(set) var waiting: [Task<Void, Never>] = []

        func change(isFixed: Bool) {
            waiting.last?.cancel()
            latest += 1
            let mine = latest
            waiting.append(
                Task {
                    do { try await Task.sleep(for: .milliseconds(5)) } catch { return }
                    await Task.yield()  // the spinner
                    if isFixed, mine != latest { return }
                    submissions.append(latest)
                }
            )
        }
    }

    private static let debounceSubmitsTwice = PlantedBug("debounce submits twice", .exactlyOnce) { world, isFixed in
        let debouncer = Debouncer()
        await debouncer.change(isFixed: isFixed)
        await world.pause()
        await debouncer.change(isFixed: isFixed)
        for task in await debouncer.waiting { await task.value }
        let submissions = await debouncer.submissions
        world.expect(submissions.count { $0 == 2 } == 1, "the last change is submitted once")
    }

    // MARK: A group that is cancelled after a child has taken something

    private actor Inbox {
        private var jobs = [1]
        var count: Int { jobs.count }

        func take() -> Int? { jobs.popLast() }

        func putBack(_ job: Int) { jobs.append(job) }
    }

    private static let lostGroupResult = PlantedBug("cancelled group loses a result", .exactlyOnce) { world, isFixed in
        let inboxes = [Inbox(), Inbox()]
        await withTaskGroup(of: (from: Inbox, job: Int)?.self) { group in
            for inbox in inboxes {
                group.addTask {
                    await world.pause()
                    if Task.isCancelled { return nil }
                    return await inbox.take().map { (inbox, $0) }
                }
            }
            _ = await group.next()  // the job that is done
            group.cancelAll()
            guard isFixed else { return }
            for await late in group { if let late { await late.from.putBack(late.job) } }
        }
        let left = await inboxes[0].count + inboxes[1].count
        world.expect(left == 1, "one job is done, and the other is left")
    }

    // MARK: An optimistic update that gives up

    private actor Versioned {
        private(set) var version = 0

        func advance(from expected: Int) -> Bool {
            guard version == expected else { return false }
            version += 1
            return true
        }
    }

    /// Each failed attempt needs an update of the other task between its two steps: an exact alternation of the tasks.
    private static let impatientUpdate = PlantedBug(
        "optimistic update gives up after five conflicts",
        .exactlyOnce
    ) { world, isFixed in
        let record = Versioned()
        @Sendable func update(attempts: Int) async {
            for _ in 0..<attempts {
                let version = await record.version
                world.note("version \(version)")
                if await record.advance(from: version) { return }
            }
        }
        async let one: Void = update(attempts: isFixed ? 100 : 5)
        async let others: Void = { for _ in 0..<8 { await update(attempts: 100) } }()
        _ = await (one, others)
        world.expect(await record.version == 9, "all nine updates are made")
    }

    // MARK: A stack whose head is the same again, but not its next

    /// The memory of a lock-free stack: nodes 1 and 2, with 1 on top of 2; 0 is the end.
    private actor Nodes {
        private(set) var head = 1
        private(set) var tag = 0
        private var next = [0, 2, 0]

        func top() -> (head: Int, next: Int, tag: Int) { (head, next[head], tag) }

        func setHead(_ new: Int, from old: Int, tag: Int?) -> Bool {
            guard head == old, tag == nil || tag == self.tag else { return false }
            head = new
            self.tag += 1
            return true
        }

        func push(_ node: Int) {
            next[node] = head
            head = node
            tag += 1
        }
    }

    private static let treiberStack = PlantedBug("ABA in a lock-free stack", .exactlyOnce) { world, isFixed in
        let nodes = Nodes()
        @Sendable func pop() async -> Int {
            while true {
                let top = await nodes.top()
                world.note("\(top.head) is on top of \(top.next)")
                if top.head == 0 { return 0 }
                if await nodes.setHead(top.next, from: top.head, tag: isFixed ? top.tag : nil) { return top.head }
            }
        }
        async let one = pop()
        async let kept: Int = {
            let first = await pop()
            let second = await pop()
            if first != 0 { await nodes.push(first) }
            return second
        }()
        var owned = [await one, await kept]
        while case let node = await pop(), node != 0, owned.count < 5 { owned.append(node) }
        owned.removeAll { $0 == 0 }
        world.expect(owned.count == Set(owned).count, "no node has two owners")
    }
}
