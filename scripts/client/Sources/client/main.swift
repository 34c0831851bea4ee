import TaskControl

// A bound task, a queue, a flight, a limit and a cancelled sleep. Such code failed at the start, or in an optimized build, on systems older than the SDK.
let lifetime = AsyncLifetime()
AsyncTask { print("bound") }.bind(to: lifetime)
try await lifetime.drain()

let queue = FIFOQueue()
let value = try await withTimeout(.seconds(10)) { try await withSingleFlight(key: "start") { await Task(on: queue) { 6 * 7 }.value } }
print("the core starts: \(value)")
do {
    try await withTimeout(.milliseconds(1)) { try await Task.sleep(nanoseconds: 60_000_000_000) }
} catch {
    print("a limit cancels a sleep: \(error)")
}
