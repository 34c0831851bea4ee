import TaskControl

/// Records which prices were sent, after the response: the client does not wait for it.
///
/// The records are tasks that outlive their request. Therefore they have an owner, which is shut down after the server and before the process ends.
final class UsageLog: Sendable {
    /// The owner of the records that have not been stored. They are stored in the order of the calls.
    let pending = CancellableQueue(underlyingQueue: FIFOQueue(name: "usage"))

    private let store: any UsageStore
    private let limit: Int

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - store: Receives the records.
    ///   - limit: The number of pending records from which on further ones are left out, so that a slow store does not use up the memory.
    init(store: any UsageStore, limit: Int = 10_000) {
        self.store = store
        self.limit = limit
    }

    /// Records that the price of a product was sent. Returns at once.
    func record(_ product: String) {
        guard pending.count < limit else { return }
        pending.addTask(whenCancelledWaiting: .skip) { [store] in
            await store.append(product)
        }
    }
}
