extension Duration {
    /// The duration, rounded up to whole nanoseconds. Clocks measure whole nanoseconds: a sleep until a fraction of a nanosecond would end too early,
    /// and would be repeated forever.
    package var upToNanosecond: Duration {
        let part = components.attoseconds % 1_000_000_000
        return part > 0 ? self + Duration(secondsComponent: 0, attosecondsComponent: 1_000_000_000 - part) : self
    }
}
