#if Metrics
/// A change of a metric.
enum Measurement: Hashable, Sendable {
    case count(MetricName)
    case raise(MetricName)
    case lower(MetricName)
    case time(MetricName, Duration)
}
#endif
