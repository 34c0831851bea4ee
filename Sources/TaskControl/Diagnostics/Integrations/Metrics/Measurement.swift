#if Metrics
/// What one event means for a metric.
enum Measurement: Hashable, Sendable {
    case count(MetricName)
    case raise(MetricName)
    case lower(MetricName)
    case time(MetricName, Duration)
}

/// A metric: what it is called, and of what it tells.
struct MetricName: Hashable, Sendable {
    struct Dimension: Hashable, Sendable {
        let name: String
        let value: String
    }

    let label: String
    let dimensions: [Dimension]

    init(_ label: String, _ dimensions: [Dimension] = []) {
        self.label = "task_control_" + label
        self.dimensions = dimensions
    }
}
#endif
