/// Bugs of tasks that outlive the function or the owner that started them.
extension PlantedBug {
    static let lifetimeBugs = [
        abaRemoval, registeredAfterStart, registeredAfterStartOnActor, leakedChild, outlivedOwner, foreignTaskLocals,
    ]

    // MARK: ABA: the end of an old task removes the new one

    private actor Running {
        private var count = 0
        private(set) var current: Int?

        func start(until stop: Signal, isFixed: Bool) -> Task<Void, Never> {
            count += 1
            let number = count
            current = number
            return Task {
                await stop.wait()
                if !isFixed || current == number { current = nil }
            }
        }
    }

    private static let abaRemoval = PlantedBug("ABA removal", .lifetime) { world, isFixed in
        let (running, stops) = (Running(), [Signal(), Signal()])
        let old = await running.start(until: stops[0], isFixed: isFixed)
        await stops[0].set()
        await Task.yield()
        let new = await running.start(until: stops[1], isFixed: isFixed)
        await old.value
        world.expect(await running.current == 2, "the new task is registered")
        await stops[1].set()
        await new.value
    }

    // MARK: A task that ends before it is registered

    private static let registeredAfterStart = PlantedBug(
        "task registered after its start",
        .lifetime,
        foundBy: .earlyStart
    ) { world, isFixed in
        let running = Guarded<[Int]>([])
        if isFixed { running.withLock { $0.append(1) } }
        let task = Task { running.withLock { $0.removeAll { $0 == 1 } } }
        if !isFixed { running.withLock { $0.append(1) } }
        await task.value
        world.expect(running.withLock { $0.isEmpty }, "no task is registered that has ended")
    }

    private static let registeredAfterStartOnActor = PlantedBug(
        "task registered after its start, on an actor",
        .lifetime
    ) { world, isFixed in
        let running = Journal<String>()
        if isFixed { await running.append("started") }
        let task = Task { await running.append("ended") }
        if !isFixed { await running.append("started") }
        await task.value
        world.expect(await running.values == ["started", "ended"], "a task is registered before it ends")
    }

    // MARK: A child that is not awaited

    private static let leakedChild = PlantedBug("child task that is not awaited", .lifetime) { world, isFixed in
        let file = Resource(isOpen: true)
        @Sendable func save() async {
            let writing = Task {
                await world.pause()
                await file.access()
            }
            if isFixed { await writing.value }
        }
        await save()
        await file.close()
        await world.pause()  // the rest of the program
        world.expect(await file.accessesWhileClosed == 0, "no closed file is written")
    }

    // MARK: A detached task that outlives its owner

    private final class Recorder: Sendable {
        private let task = Guarded<Task<Void, Never>?>(nil)

        func start(writingTo file: Resource, _ world: World) {
            let writing = Task.detached {
                for _ in 0..<3 where !Task.isCancelled {
                    await world.pause()
                    await file.access()
                }
            }
            task.withLock { $0 = writing }
        }

        func stop(isFixed: Bool) async {
            let writing = task.withLock { $0 }
            writing?.cancel()
            if isFixed { await writing?.value }
        }
    }

    private static let outlivedOwner = PlantedBug("detached task outlives its owner", .lifetime) { world, isFixed in
        let (recorder, file) = (Recorder(), Resource(isOpen: true))
        recorder.start(writingTo: file, world)
        await world.pause()
        await recorder.stop(isFixed: isFixed)
        await file.close()
        await world.pause()  // the rest of the program
        world.expect(await file.accessesWhileClosed == 0, "no closed file is written")
    }

    // MARK: A shared request that has the task-locals of its first caller

    private enum Tenant {
        @TaskLocal static var name = "nobody"
    }

    private actor Flights {
        private var running: [String: Task<String, Never>] = [:]

        func load(_ world: World, isFixed: Bool) async -> String {
            let key = isFixed ? Tenant.name : "everybody"
            if let task = running[key] { return await task.value }
            let task = Task {
                await world.pause()
                return "data of \(Tenant.name)"
            }
            running[key] = task
            defer { running[key] = nil }
            return await task.value
        }
    }

    private static let foreignTaskLocals = PlantedBug(
        "shared request has foreign task-locals",
        .lifetime
    ) { world, isFixed in
        let flights = Flights()
        @Sendable func load(for tenant: String) async {
            if tenant == "b" { await world.pause() }
            let data = await Tenant.$name.withValue(tenant) { await flights.load(world, isFixed: isFixed) }
            world.expect(data == "data of \(tenant)", "each tenant sees its own data")
        }
        async let one: Void = load(for: "a")
        async let other: Void = load(for: "b")
        _ = await (one, other)
    }
}
