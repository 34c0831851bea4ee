#if Metrics
/// The name and the dimensions (labels) of a metric.
struct MetricName: Hashable, Sendable {
    /// The names of all metrics. The article *Events* of `TaskControl` has a table that describes them.
    enum Label: String {
        case inFlight = "task_control_in_flight"
        case waiting = "task_control_waiting"
        case started = "task_control_started"
        case ended = "task_control_ended"
        case waitTime = "task_control_wait_time"
        case runTime = "task_control_run_time"
        case joined = "task_control_joined"
        case retries = "task_control_retries"
        case httpResponses = "task_control_http_responses"
        case mistakes = "task_control_mistakes"
    }

    struct Dimension: Hashable, Sendable {
        let name: String
        let value: String
    }

    let label: Label
    let dimensions: [Dimension]

    init(_ label: Label, _ dimensions: [Dimension] = []) {
        self.label = label
        self.dimensions = dimensions
    }
}
#endif
