internal import TaskControl

extension Duration {
    /// Returns a multiple of this duration, exact to the attosecond, or `longestWait` (100 years) if that is shorter.
    ///
    /// - Parameter factor: 0 or more.
    func saturatingMultiplied(exactlyBy factor: Int) -> Duration {
        let (seconds, attoseconds) = components
        let product = (Double(seconds) + Double(attoseconds) * 1e-18) * Double(factor)
        return product < 3_155_760_000 ? (self * factor).saturated : .longestWait
    }
}
