import Foundation

final class Careful {
    private var task: Task<Void, Never>?
    let api = API()

    func start() {
        task?.cancel()
        task = Task { [api] in await api.ping() }
    }

    deinit { task?.cancel() }
}

final class CarefulByMethod {
    private var task: Task<Void, Never>?
    let api = API()

    func start() {
        stop()
        task = Task { [api] in await api.ping() }
    }

    func stop() {
        task?.cancel()
        task = nil
    }

    deinit { stop() }
}

final class StartedOnce {
    private var task: Task<Void, Never>?
    let api = API()

    func start() {
        guard task == nil else { return }
        task = Task { [api] in await api.ping() }
    }

    func stop() { task?.cancel() }
}

final class Observing {
    private var task: Task<Void, Never>? {
        didSet { oldValue?.cancel() }
    }
    let api = API()

    func start() {
        task = Task { [api] in await api.ping() }
    }

    deinit { task?.cancel() }
}

// Callers await the flight: its end is theirs.
actor Flight {
    private var flight: Task<[Item], Error>?
    let api = API()

    func load() async throws -> [Item] {
        if let flight { return try await flight.value }
        let task = Task { [api] in try await api.feed() }
        flight = task
        defer { flight = nil }
        return try await task.value
    }
}

final class Chained {
    private var last: Task<Void, Never>?
    let api = API()

    func enqueue() {
        let previous = last
        last = Task { [api] in
            await previous?.value
            await api.ping()
        }
    }

    deinit { last?.cancel() }
}

actor Unique {
    private var tasks: [UUID: Task<Void, Never>] = [:]
    let api = API()

    func start() {
        let id = UUID()
        tasks[id] = Task { [api] in await api.ping() }
    }

    func stop() {
        for task in tasks.values { task.cancel() }
    }
}

struct CarefulView {
    @State private var load: Task<Void, Never>? = nil
    let api = API()

    mutating func appear() {
        load?.cancel()
        load = Task { [api] in await api.ping() }
    }

    var body: Screen {
        let load = load
        return Screen().onDisappear { self.load?.cancel() }
    }
}

final class Handing {
    private var task: Task<Void, Never>?
    let api = API()

    func start() -> Task<Void, Never> {
        if let task { return task }
        let next = Task { [api] in await api.ping() }
        task = next
        return next
    }
}

func awaitsTheEnd(_ api: API) async {
    let task = Task { await api.ping() }
    await task.value
}

final class Once: ViewController {
    private var task: Task<Void, Never>?
    let api = API()

    override func viewDidLoad() {
        task = Task { [api] in await api.ping() }
    }

    func viewDidDisappear() { task?.cancel() }
}
