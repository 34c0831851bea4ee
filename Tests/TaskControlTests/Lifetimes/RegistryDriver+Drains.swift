import TestSupport
import Testing

@testable import TaskControl

/// Waiters for the end of all tasks, and of those of one key.
extension RegistryDriver {
    mutating func enrollDrainer(_ key: String?) {
        let hasTasks = model.tasks.contains { key == nil || $0.key == key }
        let (id, laneID) =
            key.map { key in
                let laneID = machine.enrollDrainer(of: _ErasedKey(key))
                return (laneID?.id, laneID)
            } ?? (machine.enrollDrainer(), nil)
        #expect((id != nil) == hasTasks)
        guard let id else { return }
        laneDrainerIDs[drainers.count] = laneID
        drainers.append(.enrolled)
        drainerIDs.append(id)
        drainerKeys.append(key)
    }

    /// - Returns: The drainers that are woken.
    mutating func drained(where isMeant: (String?) -> Bool) -> Set<Int> {
        var woken = Set<Int>()
        for (number, drainer) in drainers.enumerated() where isMeant(drainerKeys[number]) {
            switch drainer {
            case .parked: woken.insert(1_000 + number)
            // Drainers that have not parked yet receive the outcome when they park.
            case .enrolled: #expect(machine.parkDrainer(drainerIDs[number], Word(1_000 + number)) == .reached)
            case .left, .drained: continue
            }
            drainers[number] = .drained
        }
        return woken
    }

    mutating func leaveDrain(_ number: Int) -> Int? {
        if let id = laneDrainerIDs[number] {
            machine.drainerLeaves(id)?.number
        } else {
            machine.drainerLeaves(drainerIDs[number])?.number
        }
    }

    mutating func drainerLeaves(_ number: Int) {
        let waiter = leaveDrain(number)
        #expect(waiter == (drainers[number] == .parked ? 1_000 + number : nil))
        if drainers[number] == .enrolled {
            #expect(machine.parkDrainer(drainerIDs[number], Word(1_000 + number)) == .left)
        }
        #expect(leaveDrain(number) == nil)
        drainers[number] = .left
    }
}
