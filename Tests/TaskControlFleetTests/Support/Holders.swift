import TaskControl
import TaskControlFleet
import TaskControlTesting

/// The holders of a lease whose leases are valid, as a test sees them.
final class Holders: Sendable {
    private struct State {
        var leases: [Lease] = []
        var lastToken: Lease.FencingToken?
        var most = 0
    }

    private let state = Locked(State())
    private let sim: Simulation
    private let permits: Int

    init(_ sim: Simulation, permits: Int = 1) {
        (self.sim, self.permits) = (sim, permits)
    }

    /// The largest number of valid leases at the same time.
    var most: Int { state.withLock(\.most) }

    /// Expects that there is room for a holder, and that its token is greater than those before.
    func begin(_ lease: Lease) {
        let others = state.withLock(\.leases)
        let valid = others.filter(\.isValid).count
        sim.expect(lease.isValid, "a lease is valid when its body begins")
        sim.expect(valid < permits, "no more leases are valid than there are permits")
        let isNewer = state.withLock { state in
            defer {
                state.lastToken = max(state.lastToken ?? lease.token, lease.token)
                state.leases.append(lease)
                state.most = max(state.most, valid + 1)
            }
            return state.lastToken.map { $0 < lease.token } ?? true
        }
        if permits == 1 { sim.expect(isNewer, "tokens increase") }
    }

    func end(_ lease: Lease) { state.withLock { $0.leases.removeAll { $0.token == lease.token } } }
}
