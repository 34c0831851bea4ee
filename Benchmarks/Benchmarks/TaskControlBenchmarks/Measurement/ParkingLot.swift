/// A place where tasks park until they are released, so that they can be counted, weighed and cancelled while they live.
///
/// Its memory is allocated before the first task parks, so that it does not show in what is weighed.
final class ParkingLot: @unchecked Sendable {
    private let count: Int
    private let parked: UnsafeMutablePointer<UnsafeContinuation<Void, Never>?>
    private let arrivals: Countdown
    private let departures: Countdown

    init(_ count: Int) {
        self.count = count
        parked = .allocate(capacity: count)
        parked.initialize(repeating: nil, count: count)
        arrivals = Countdown(count)
        departures = Countdown(count)
    }

    deinit {
        parked.deallocate()
    }

    /// Parks the task that calls this, whether it is cancelled or not.
    func park(_ index: Int) async {
        await withUnsafeContinuation {
            parked[index] = $0
            arrivals.hit()
        }
        departures.hit()
    }

    /// Parks the task that calls this until it is cancelled. To be cancelled only when all have parked.
    func parkUntilCancelled(_ index: Int) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation {
                parked[index] = $0
                arrivals.hit()
            }
        } onCancel: {
            parked[index]?.resume()
        }
        departures.hit()
    }

    func waitUntilFull() async {
        await arrivals.wait()
    }

    func letAllGo() {
        for index in 0..<count { parked[index]?.resume() }
    }

    func waitUntilEmpty() async {
        await departures.wait()
    }
}
