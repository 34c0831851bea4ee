#if Metrics
/// What an event means for a metric.
enum Measurement: Hashable, Sendable {
    case count(MetricName)
    case raise(MetricName)
    case lower(MetricName)
    case time(MetricName, Duration)
}
#endif
