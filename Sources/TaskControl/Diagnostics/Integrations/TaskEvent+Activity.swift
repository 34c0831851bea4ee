#if Metrics || Tracing
extension TaskEvent {
    /// What kind of thing it is that begins with this event: the primitive, as in `FIFOQueue`, and what is not its work apart from that, as in
    /// `FIFOQueue.draining`. One of a few words of the library's own.
    var activity: String {
        switch kind {
        case .draining, .refreshing: name
        default: primitive.rawValue
        }
    }
}
#endif
