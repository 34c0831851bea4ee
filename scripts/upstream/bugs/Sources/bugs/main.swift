import AsyncAlgorithms
import GRPCCore
import GRPCInProcessTransport
import TaskControlTesting

func show(_ title: String, _ body: @escaping @Sendable (Simulation) async throws -> Void) {
    do {
        print("\(title): \(try simulate(body))")
    } catch {
        print("\(title): \(error)\n")
    }
}

// The last iterator to leave cancels the iterating task, but does not resume its wait for a demand, which has no cancellation handler: the task stays
// forever, with the base sequence. It happens whenever iterators of a shared sequence end early and the sequence is released before them.
show("swift-async-algorithms 1.1.4, share()") { _ in
    let shared = [1, 2, 3].async.share()
    var one = shared.makeAsyncIterator()
    var other = shared.makeAsyncIterator()
    _ = await one.next(isolation: nil)
    _ = await other.next(isolation: nil)
    _ = await one.next(isolation: nil)
}

// The server's task may begin after the closure has returned and the server is asked to shut down: `serve()` then throws `serverIsStopped`.
show("grpc-swift-2 2.4.3, withGRPCServer") { _ in
    try await withGRPCServer(transport: InProcessTransport().server, services: []) { _ in }
}
