import Foundation
import TaskControl
import TaskControlTesting
import Testing

// The code of the document on ordered queues, as it stands there but for its import and its white space.

@Suite(.timeLimit(.minutes(15)))
struct AsyncQueueDocumentTests {
    /// Without a queue, as the problem is shown: it fails now and then, so it is only compiled.
    @Test(.disabled("often fails, as the document says"))
    func actorTaskOrdering() async {
        actor Counter {
            func incrementAndAssertCountEquals(_ expectedCount: Int) {
                count += 1
                let incrementedCount = count
                #expect(incrementedCount == expectedCount)  // often fails
            }

            private var count = 0
        }

        let counter = Counter()
        var tasks = [Task<Void, Never>]()
        for iteration in 1...100 {
            tasks.append(
                Task {
                    await counter.incrementAndAssertCountEquals(iteration)
                }
            )
        }
        // Wait for all enqueued tasks to finish.
        for task in tasks {
            _ = await task.value
        }
    }

    @Test
    func fIFOQueueOrdering() async {
        actor Counter {
            nonisolated
                func incrementAndAssertCountEquals(_ expectedCount: Int) -> Task<Void, Never>
            {
                Task(on: queue) {
                    await self.increment()
                    let incrementedCount = await self.count
                    #expect(incrementedCount == expectedCount)  // always succeeds
                }
            }

            func increment() {
                count += 1
            }

            private var count = 0
            private let queue = FIFOQueue()
        }

        let counter = Counter()
        var tasks = [Task<Void, Never>]()
        for iteration in 1...100 {
            tasks.append(counter.incrementAndAssertCountEquals(iteration))
        }
        // Wait for all enqueued tasks to finish.
        for task in tasks {
            _ = await task.value
        }
    }

    @Test
    func actorQueueOrdering() async {
        actor Counter {
            init() {
                // Adopting the execution context in `init` satisfies requirement #2 above.
                queue.adoptExecutionContext(of: self)
            }

            nonisolated
                func incrementAndAssertCountEquals(_ expectedCount: Int) -> Task<Void, Never>
            {
                Task(on: queue) { myself in
                    myself.count += 1
                    #expect(expectedCount == myself.count)  // always succeeds
                }
            }

            private var count = 0
            // Making the queue a private let constant satisfies requirement #1 above.
            private let queue = ActorQueue<Counter>()
        }

        let counter = Counter()
        var tasks = [Task<Void, Never>]()
        for iteration in 1...100 {
            tasks.append(counter.incrementAndAssertCountEquals(iteration))
        }
        // Wait for all enqueued tasks to finish.
        for task in tasks {
            _ = await task.value
        }
    }

    @MainActor
    @Test
    func mainActorQueueOrdering() async {
        @MainActor
        final class Counter {
            nonisolated
                func incrementAndAssertCountEquals(_ expectedCount: Int) -> Task<Void, Never>
            {
                Task(on: MainActor.queue) {
                    self.increment()
                    let incrementedCount = self.count
                    #expect(incrementedCount == expectedCount)  // always succeeds
                }
            }

            func increment() {
                count += 1
            }

            private var count = 0
        }

        let counter = Counter()
        var tasks = [Task<Void, Never>]()
        for iteration in 1...100 {
            tasks.append(counter.incrementAndAssertCountEquals(iteration))
        }
        // Wait for all enqueued tasks to finish.
        for task in tasks {
            _ = await task.value
        }
    }

    /// The document leaves the bodies of two methods open, and gives `loadImage` a task that cannot throw although what it does may:
    /// that does not compile with any library. It is a throwing one here, with the one `await` that is missing there.
    @Test
    func cancellableQueueExample() async {
        nonisolated struct UIImage: Sendable {}

        actor ImageLoader {
            init() {
                let actorQueue = ActorQueue<ImageLoader>()
                cancellableQueue = CancellableQueue(underlyingQueue: actorQueue)
                actorQueue.adoptExecutionContext(of: self)
            }

            nonisolated
                func loadImage(from url: URL) -> Task<UIImage?, any Error>
            {
                Task(on: cancellableQueue) { myself in
                    guard let image = try await myself.fetchImage(from: url) else { return nil }
                    try Task.checkCancellation()
                    return await myself.processImage(image)
                }
            }

            nonisolated
                func cancelAllLoads()
            {
                // Cancels the currently loading image and any queued load requests.
                cancellableQueue.cancelTasks()
            }

            private func fetchImage(from url: URL) async throws -> UIImage? {
                try await Task.sleep(nanoseconds: 60_000_000_000)
                return UIImage()
            }

            private func processImage(_ image: UIImage) async -> UIImage {
                image
            }

            private let cancellableQueue: CancellableQueue<ActorQueue<ImageLoader>>
        }

        let loader = ImageLoader()

        // Enqueue several image load tasks.
        let task1 = loader.loadImage(from: URL(string: "https://example.com/1.png")!)
        let task2 = loader.loadImage(from: URL(string: "https://example.com/2.png")!)
        let task3 = loader.loadImage(from: URL(string: "https://example.com/3.png")!)

        // Cancel all pending and executing loads.
        loader.cancelAllLoads()

        // All tasks are now cancelled.
        #expect(task1.isCancelled)
        #expect(task2.isCancelled)
        #expect(task3.isCancelled)
        for task in [task1, task2, task3] {
            await #expect(throws: CancellationError.self) { _ = try await task.value }
        }
    }

    @Test
    func cancellableFIFOQueue() async {
        let (begun, performWork) = (Gate(), Gate())

        let cancellableQueue = CancellableQueue(underlyingQueue: FIFOQueue())

        let task = Task(on: cancellableQueue) {
            // This work can be cancelled via cancellableQueue.cancelTasks()
            begun.open()
            try? await performWork.wait()
        }

        try? await begun.wait()
        cancellableQueue.cancelTasks()
        #expect(task.isCancelled)
        performWork.open()
        await task.value
    }
}
