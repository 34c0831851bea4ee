extension Duration {
    /// This duration, rounded up to whole nanoseconds. Clocks have whole nanoseconds: a sleep until a part of one ends before it, and would be repeated forever.
    var upToNanosecond: Duration {
        let part = components.attoseconds % 1_000_000_000
        return part > 0 ? self + Duration(secondsComponent: 0, attosecondsComponent: 1_000_000_000 - part) : self
    }
}
