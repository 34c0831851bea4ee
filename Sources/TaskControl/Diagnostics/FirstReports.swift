extension Diagnostics {
    private static let firstReports = Locked(RareDictionary<String, Void>())

    /// Returns whether a mistake is reported for the first time in this process. Later reports of it would repeat what is known.
    ///
    /// - Parameter mistake: A text that identifies the mistake.
    static func isFirstReport(_ mistake: String) -> Bool {
        firstReports.withLock { reports in
            defer { reports[mistake] = () }
            return reports[mistake] == nil
        }
    }
}
