// refused: with Foundation imported, a stored value of unknown type is not opened for a generic function, unless `self` is written
import Foundation

func pause(on clock: some Clock<Duration>) async throws {}

struct Store: Sendable {
    let clock: any Clock<Duration>

    func wait() async throws { try await pause(on: clock) }
}
