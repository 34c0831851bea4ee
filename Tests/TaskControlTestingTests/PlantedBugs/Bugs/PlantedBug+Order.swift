/// Bugs of code that assumes the usual order.
extension PlantedBug {
    static let orderBugs = [
        staleSearch, assumedFIFO, assumedMergeOrder, assumedChildOrder, assumedPriority, lateEvent, threeSteps,
        finishBeforeYield, twoConsumers,
    ]

    // MARK: An old result that replaces a new one

    private actor Results {
        private var latest = 0
        private(set) var shown = 0

        func begin() -> Int {
            latest += 1
            return latest
        }

        func show(_ search: Int, isFixed: Bool) {
            if isFixed, search != latest { return }
            shown = search
        }
    }

    private static let staleSearch = PlantedBug("stale search result", .order) { world, isFixed in
        let results = Results()
        await withTaskGroup { group in
            for _ in 0..<2 {
                let search = await results.begin()
                group.addTask {
                    await world.pause()
                    await results.show(search, isFixed: isFixed)
                }
                await Task.yield()  // the next key
            }
        }
        world.expect(await results.shown == 2, "the last search is shown")
    }

    // MARK: Tasks that are expected to run in the order of their creation

    private static let assumedFIFO = PlantedBug("tasks assumed to run in order", .order) { world, isFixed in
        let journal = Journal<Int>()
        if isFixed {
            let (stream, lines) = AsyncStream.makeStream(of: Int.self)
            let writer = Task { for await line in stream { await journal.append(line) } }
            for line in 0..<3 { lines.yield(line) }
            lines.finish()
            await writer.value
        } else {
            let writers = (0..<3).map { line in Task { await journal.append(line) } }
            for writer in writers { await writer.value }
        }
        world.expect(await journal.values == [0, 1, 2], "lines are in order")
    }

    // MARK: Two sources whose elements are expected one source after the other

    private actor Timeline {
        private(set) var posts: [Int] = []
        private var early: [Int]? = []

        func receive(_ post: Int, isLive: Bool, isFixed: Bool) {
            if isFixed, isLive, early != nil { early?.append(post) } else { posts.append(post) }
        }

        func endHistory() {
            posts += early ?? []
            early = nil
        }
    }

    private static let assumedMergeOrder = PlantedBug("merge order assumed", .order) { world, isFixed in
        let timeline = Timeline()
        async let history: Void = {
            for post in 0..<2 { await timeline.receive(post, isLive: false, isFixed: isFixed) }
            if isFixed { await timeline.endHistory() }
        }()
        async let live: Void = {
            for post in 2..<4 {
                await Task.yield()
                await timeline.receive(post, isLive: true, isFixed: isFixed)
            }
        }()
        _ = await (history, live)
        world.expect(await timeline.posts == [0, 1, 2, 3], "history comes before live posts")
    }

    // MARK: Child tasks that are expected to run in the order of their `async let`

    private static let assumedChildOrder = PlantedBug("async let order assumed", .order) { world, isFixed in
        let file = Resource(isOpen: false)
        async let opening: Void = file.open()
        if isFixed { await opening }
        async let writing: Void = file.access()
        _ = await (opening, writing)
        world.expect(await file.accessesWhileClosed == 0, "the file is open when it is written")
    }

    // MARK: A priority that is taken for an order

    private static let assumedPriority = PlantedBug("priority taken for an order", .order) { world, isFixed in
        let journal = Journal<String>()
        let urgent = Task(priority: .high) { await journal.append("urgent") }
        let later = Task(priority: .background) {
            if isFixed { await urgent.value }
            await journal.append("later")
        }
        await later.value
        await urgent.value
        world.expect(await journal.values == ["urgent", "later"], "the urgent line comes first")
    }

    // MARK: An event after the end of its subscription

    private static let lateEvent = PlantedBug("event after unsubscribing", .order) { world, isFixed in
        let screen = Resource(isOpen: true)
        let handler = Guarded<(@Sendable () async -> Void)?> { await screen.access(isIgnoredIfClosed: isFixed) }
        async let event: Void = {
            await world.pause()
            let current = handler.withLock { $0 }
            await current?()
        }()
        async let leaving: Void = {
            await world.pause()
            handler.withLock { $0 = nil }
            await screen.close()
        }()
        _ = await (event, leaving)
        world.expect(await screen.accessesWhileClosed == 0, "a closed screen receives no event")
    }

    // MARK: Three services, whose events are wrong in one of six orders

    private actor Order {
        private(set) var isCancelled = false
        private(set) var isShipped = false
        private var isPaid = false

        func cancel() { if !isPaid { isCancelled = true } }

        func pay(isFixed: Bool) { if !isFixed || !isCancelled { isPaid = true } }

        func ship() { if isPaid { isShipped = true } }
    }

    private static let threeSteps = PlantedBug("three steps in one exact order", .order) { world, isFixed in
        let order = Order()
        let services: [@Sendable () async -> Void] = [
            { await order.cancel() }, { await order.pay(isFixed: isFixed) }, { await order.ship() },
        ]
        await withTaskGroup { group in
            for service in services {
                group.addTask {
                    await Task.yield()
                    world.note("an event arrives")
                    await Task.yield()
                    await service()
                }
            }
        }
        let (isCancelled, isShipped) = (await order.isCancelled, await order.isShipped)
        world.expect(!isCancelled || !isShipped, "no cancelled order is shipped")
    }

    // MARK: A stream that is finished by the producer that was started last

    private static let finishBeforeYield = PlantedBug(
        "stream finished before the last element",
        .order
    ) { world, isFixed in
        let (stream, elements) = AsyncStream.makeStream(of: Int.self)
        async let producing: Void = {
            await withTaskGroup { group in
                for element in 0..<2 {
                    group.addTask {
                        await Task.yield()
                        elements.yield(element)
                        if !isFixed, element == 1 { elements.finish() }
                    }
                }
            }
            elements.finish()
        }()
        var count = 0
        for await _ in stream { count += 1 }
        await producing
        world.expect(count == 2, "both elements arrive")
    }

    // MARK: Two consumers of one stream, each of which expects all elements

    private static let twoConsumers = PlantedBug("two consumers of one AsyncStream", .order) { world, isFixed in
        let streams = (0..<2).map { _ in AsyncStream.makeStream(of: Int.self) }
        async let producing: Void = {
            for element in 0..<3 {
                await Task.yield()
                streams[0].continuation.yield(element)
                if isFixed { streams[1].continuation.yield(element) }
            }
            for stream in streams { stream.continuation.finish() }
        }()
        @Sendable func consume(_ stream: AsyncStream<Int>) async {
            var last: Int?
            for await element in stream { last = element }
            world.expect(last == 2, "each consumer receives the last element")
        }
        async let one: Void = consume(streams[0].stream)
        async let other: Void = consume(streams[isFixed ? 1 : 0].stream)
        _ = await (producing, one, other)
    }
}
