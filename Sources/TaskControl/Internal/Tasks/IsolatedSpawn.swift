private import CTaskControl

@usableFromInline enum _Isolated {
    @export(implementation)
    static func make<Body: _TaskBody>(
        name: String?,
        priority: TaskPriority?,
        isolatedTo isolation: (any Actor)?,
        _ body: consuming Body
    ) -> Task<Body.Success, Never> where Body.Failure == Never {
        // Captured as a `let`, because a consumed parameter would be captured in a box, which is another allocation.
        guard let isolation else {
            let body = body
            return Task<Body.Success, any Error>(name: name, priority: priority) { await body.run() }.unfailing
        }
        // The closure of a task that captures an isolated parameter is isolated to that actor.
        return calledFromAnywhere(_IsolatedSpawn<Body, Never>(spawn: spawn)).spawn(isolation, name, priority, body)
    }

    @export(implementation)
    static func make<Body: _TaskBody>(
        name: String?,
        priority: TaskPriority?,
        isolatedTo isolation: (any Actor)?,
        _ body: consuming Body
    ) -> Task<Body.Success, any Error> where Body.Failure == any Error {
        guard let isolation else {
            let body = body
            return Task(name: name, priority: priority) { try await body.run() }
        }
        return calledFromAnywhere(_IsolatedSpawn<Body, any Error>(spawn: spawn)).spawn(isolation, name, priority, body)
    }

    @export(implementation)
    static func spawn<Body: _TaskBody>(
        _ isolation: isolated any Actor,
        _ name: String?,
        _ priority: TaskPriority?,
        _ body: consuming Body
    ) -> Task<Body.Success, Never> where Body.Failure == Never {
        let body = body
        return Task<Body.Success, any Error>(name: name, priority: priority) {
            _ = isolation
            return await body.run()
        }.unfailing
    }

    @export(implementation)
    static func spawn<Body: _TaskBody>(
        _ isolation: isolated any Actor,
        _ name: String?,
        _ priority: TaskPriority?,
        _ body: consuming Body
    ) -> Task<Body.Success, any Error> where Body.Failure == any Error {
        let body = body
        return Task(name: name, priority: priority) {
            _ = isolation
            return try await body.run()
        }
    }
}
