import TaskControl
import TaskControlSupervision

extension Supervisor {
    /// Creates the supervisor of the work that runs beside the requests.
    ///
    /// The connection for the changes of prices is made again when it is lost, with growing delays. The server also works without it: prices are then
    /// as old as the policy of the cache allows. Therefore the work has no limit of restarts, and never ends the process.
    convenience init(
        keeping prices: PriceList,
        upToDateWith supplier: any Supplier,
        backoff: RetryBackoff,
        clock: any Clock<Duration>
    ) {
        self.init(name: "background", limit: .unlimited, clock: clock)
        keepRunning("price changes", backoff: backoff) { run in
            let changes = try await supplier.changes()
            run.markReady()
            for try await price in changes { prices.update(price) }
        }
    }
}
