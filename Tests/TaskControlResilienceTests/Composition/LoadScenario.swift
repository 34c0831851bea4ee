/// The scenario of a service and its callers in a closed loop.
enum LoadScenario: String, CaseIterable {
    case stepDown, stepUp, allTimeOut, slowTail, bursts, outage

    /// The capacity of the service. In steps it is the one and then the other.
    func capacity(at second: Int, large: Int, small: Int) -> Int {
        switch self {
        case .stepDown: second < 20 ? large : small
        case .stepUp: second < 20 ? small : large
        default: large
        }
    }

    /// Whether the service answers no call.
    func hangs(at second: Int, during trouble: Range<Int>) -> Bool { self == .allTimeOut && trouble.contains(second) }

    /// Whether the service refuses all calls.
    func fails(at second: Int, during trouble: Range<Int>) -> Bool { self == .outage && trouble.contains(second) }
}
