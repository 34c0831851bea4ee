/// Plays events to a machine and to a naive model of it, and compares what they say.
package protocol MachineDriver {
    associatedtype Event

    /// Two drivers of one signature have the same future.
    var signature: Int { get }

    mutating func play(_ event: Event)
}

extension MachineDriver {
    /// Plays every sequence of events up to a length; sequences that lead to the same state continue as one.
    ///
    /// - Parameter events: Returns the events that are possible in a state.
    /// - Returns: The number of steps.
    package func playEverySequence(upTo depth: Int, _ events: (Self) -> [Event]) -> Int {
        var (frontier, seen, steps) = ([self], Set<Int>(), 0)
        for _ in 0..<depth {
            var next: [Self] = []
            for driver in frontier {
                for event in events(driver) {
                    var copy = driver
                    copy.play(event)
                    steps += 1
                    if seen.insert(copy.signature).inserted { next.append(copy) }
                }
            }
            frontier = next
        }
        return steps
    }
}
