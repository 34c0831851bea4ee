/// The runs of one name that ``runOnce(_:for:in:guarantee:timeToLive:holder:clock:body:)`` has recorded, as they are
/// stored in one entry of the store.
struct RunRecord: Codable, Equatable {
    /// A period that has been run, or is being run (``RunGuarantee/atMostOnce``).
    struct Run: Codable, Equatable {
        let period: String
        /// The fencing token of the caller that has recorded the run.
        let token: FencingToken
    }

    /// The number of runs that are kept: the entry does not grow.
    static let limit = 100

    /// The recorded runs, the oldest first.
    private(set) var runs: [Run] = []

    /// Returns the run of a period; `nil` if none is recorded. Periods are compared byte by byte, in UTF-8.
    func run(of period: String) -> Run? { runs.last { $0.period.isSameKey(as: period) } }

    /// Returns the record with a run added. If there are more than ``limit`` runs, the oldest is removed.
    func adding(_ run: Run) -> RunRecord { RunRecord(runs: (runs + [run]).suffix(Self.limit)) }

    init(runs: [Run] = []) { self.runs = runs }
}
