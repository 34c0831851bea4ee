extension Diagnostics {
    private enum FirstReports {
        typealias Mistakes = Locked<RareDictionary<String, Void>>

        static let ofProcess = make()

        static var mistakes: Mistakes { ProcessValues.value(of: Self.self, ofProcess, make: make) }

        static func make() -> Mistakes { Locked(RareDictionary()) }
    }

    /// Returns whether a mistake is reported for the first time in this process. Later reports of it would repeat what is known.
    ///
    /// - Parameter mistake: A text that identifies the mistake.
    static func isFirstReport(_ mistake: String) -> Bool {
        FirstReports.mistakes.withLock { reports in
            defer { reports[mistake] = () }
            return reports[mistake] == nil
        }
    }
}
