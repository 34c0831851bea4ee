extension Duration {
    /// Rounded up: nothing takes 0 ms.
    var inMilliseconds: String { "\(Int((self / .milliseconds(1)).rounded(.up))) ms" }
}
