import Logging

/// Counts the records of usage, and writes the totals to the log.
actor UsageTotals: UsageStore {
    private var totals: [String: Int] = [:]
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    func append(_ product: String) {
        totals[product, default: 0] += 1
    }

    func flush() {
        let metadata = totals.mapValues { Logger.MetadataValue.stringConvertible($0) }
        logger.info("usage", metadata: metadata)
    }
}
