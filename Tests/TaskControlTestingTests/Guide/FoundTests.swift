import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

// The examples of the article WhatItHasFound.md: the shapes of bugs in public code, each before its fix and after it. `scripts/check-excerpts` checks that
// the article shows this code unchanged.

@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct FoundTests {
    // MARK: - An entry that comes after its removal

    final class HandlersBefore: @unchecked Sendable {
        private let lock = NSLock()
        private var tasks: [Int: Task<Void, Never>] = [:]

        var count: Int { lock.withLock { tasks.count } }

        func handle(_ id: Int) -> Task<Void, Never> {
            let task = Task {
                // a request that is answered at once
                self.lock.withLock { self.tasks[id] = nil }
            }
            lock.withLock { tasks[id] = task }  // after the removal
            return task
        }
    }

    @Test func aDictionaryKeepsATaskThatEndsEarly() {
        #expect(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<100, strategy: .random.withEarlyStarts()) { sim in
                let handlers = HandlersBefore()
                await handlers.handle(1).value
                sim.expect(handlers.count == 0, "no entry is left")
            }
        }
    }

    @Test func aStoreKeepsNoTaskThatEndsEarly() throws {
        try simulate(seeds: 0..<100, strategy: .random.withEarlyStarts()) { sim in
            let handlers = TaskStore<Int>()
            await handlers.addTask(forKey: 1) {}.value
            sim.expect(handlers.count == 0, "no entry is left")
        }
    }

    // MARK: - A request that registers itself too late

    actor ClientBefore {
        private var pending: [Int: CheckedContinuation<String?, Never>] = [:]

        nonisolated func send(_ id: Int) -> Task<String?, Never> {
            Task { await self.reply(to: id) }  // registers when it gets a thread
        }

        private func reply(to id: Int) async -> String? {
            await withCheckedContinuation { pending[id] = $0 }
        }

        func close() {
            for reply in pending.values { reply.resume(returning: nil) }
            pending = [:]
        }
    }

    @Test func aRequestThatIsSentBeforeTheEndCanWaitForever() {
        #expect(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<100) { _ in
                let client = ClientBefore()
                let reply = client.send(1)
                await client.close()
                _ = await reply.value
            }
        }
    }

    final class ClientAfter: Sendable {
        private let replies = PendingReplies<Int, String>()

        func send(_ id: Int) throws -> PendingReplies<Int, String>.Reply {
            try replies.expect(id)  // registered when this returns
        }

        func close() { replies.close() }
    }

    @Test func aRequestThatIsSentBeforeTheEndIsAnswered() throws {
        try simulate(seeds: 0..<100) { _ in
            let client = ClientAfter()
            let reply = try client.send(1)
            client.close()
            await #expect(throws: CancellationCause.shutdown(name: nil)) { try await reply.value }
        }
    }

    // MARK: - A caller that cannot leave

    actor TokensBefore {
        private let server: Gate
        private var refresh: Task<String, any Error>?

        init(server: Gate) { self.server = server }

        func token() async throws -> String {
            if let refresh { return try await refresh.value }
            let task = Task { [server] in
                try await server.wait()
                return "token"
            }
            refresh = task
            defer { refresh = nil }
            return try await task.value
        }
    }

    @Test func aCallerOfASharedTaskCannotLeave() {
        #expect(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<100) { _ in
                let tokens = TokensBefore(server: Gate())  // a server that hangs
                let caller = Task { try await tokens.token() }
                caller.cancel()
                _ = await caller.result
            }
        }
    }

    struct TokensAfter: Sendable {
        let server: Gate
        private let refreshes = SingleFlight<String, String>()

        init(server: Gate) { self.server = server }

        func token() async throws -> String {
            try await refreshes.value(for: "token") {
                try await server.wait()
                return "token"
            }
        }
    }

    @Test func aCallerOfAFlightLeaves() throws {
        try simulate(seeds: 0..<100) { _ in
            let tokens = TokensAfter(server: Gate())
            let caller = Task { try await tokens.token() }
            caller.cancel()
            _ = await caller.result
        }
    }

    // MARK: - A loop that retains its object

    @MainActor final class WatcherBefore {
        private var last = 0
        private var loop: Task<Void, Never>?

        func watch(_ updates: AsyncStream<Int>) {
            loop = Task { for await update in updates { last = update } }
        }

        deinit { loop?.cancel() }  // never called while the stream lasts
    }

    @Test func aLoopRetainsItsObject() {
        #expect(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<100) { _ in
                let (updates, source) = AsyncStream.makeStream(of: Int.self)
                defer { source.finish() }
                try await requireDeallocated { @MainActor in
                    let watcher = WatcherBefore()
                    watcher.watch(updates)
                    return watcher
                }
            }
        }
    }

    @MainActor final class WatcherAfter {
        private var last = 0
        private let lifetime = AsyncLifetime()

        func watch(_ updates: AsyncStream<Int>) {
            lifetime.forEach(updates, for: self) { watcher, update in
                watcher.last = update
            }
        }
    }

    @Test func aListenerDoesNotRetainItsObject() throws {
        try simulate(seeds: 0..<100) { _ in
            let (updates, source) = AsyncStream.makeStream(of: Int.self)
            defer { source.finish() }
            try await requireDeallocated { @MainActor in
                let watcher = WatcherAfter()
                watcher.watch(updates)
                return watcher
            }
        }
    }
}
