/// The results of several items, reported by the code that processes them.
actor BatchBoard {
    private(set) var report: BatchReport

    init(verb: String, names: [String]) {
        report = BatchReport(verb: verb, names: names.map(\.printable))
    }

    func set(_ index: Int, _ outcome: BatchReport.Outcome) {
        report.items[index].outcome = outcome
    }

    var notDone: String? { report.isDone ? nil : report.sentence }
}
