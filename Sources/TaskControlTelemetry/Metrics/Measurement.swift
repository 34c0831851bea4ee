#if Metrics
/// A change of a metric: counts an event, raises or lowers a meter by one, or records a duration.
enum Measurement: Hashable, Sendable {
    case count(MetricName)
    case raise(MetricName)
    case lower(MetricName)
    case time(MetricName, Duration)
}
#endif
