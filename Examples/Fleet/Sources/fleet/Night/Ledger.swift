/// The resource that the job changes: the steps that were written, each with the fencing token of its writer.
///
/// It checks tokens, so that a worker whose lease was lost cannot write, whatever that worker believes.
struct Ledger {
    /// A step that was written.
    struct Line: Hashable {
        let step: Int
        let token: Int64
    }

    private(set) var lines: [Line] = []
    private(set) var refusals = 0
    private var highest: Int64 = 0

    /// Registers a token, and returns the steps that are written.
    mutating func begin(_ token: Int64) -> Reply { check(token) ?? .written(lines.map(\.step)) }

    /// Writes a step.
    mutating func write(_ step: Int, _ token: Int64) -> Reply {
        if let refusal = check(token) { return refusal }
        lines.append(Line(step: step, token: token))
        return .accepted
    }

    private mutating func check(_ token: Int64) -> Reply? {
        guard token >= highest else {
            refusals += 1
            return .refused(highest: highest)
        }
        highest = token
        return nil
    }
}
