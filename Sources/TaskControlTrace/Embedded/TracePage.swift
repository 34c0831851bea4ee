// Made by scripts/trace-page; not to be changed here.

/// The HTML page of a trace: the constant text before the data of the trace, and the constant text after the data.
enum TracePage {
    /// The parts that are written before the data of a trace, in this order.
    static let head: [StaticString] = [top, style, middle]
    /// The parts that are written after the data, in this order.
    static let tail: [StaticString] = [opening, data, rows, view, frame, tip, input, main, closing]
}
