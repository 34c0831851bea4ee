/// The limit on how many tasks of a registry run at once. A lane contains the tasks of one key; an entry is a registered
/// task.
extension TaskRegistryStateMachine {
    /// The permits of a registry with a limit. An entry takes a permit when its key lets it start, and keeps the permit until
    /// it has finished, also if it is cancelled while it runs; if no permit is available, the entry is `queued`. An entry
    /// that waits for its key, for a quiet time or for an interval is not in line.
    struct Limit {
        /// The permits, and the line for them. A waiter is the slot of a `queued` entry.
        var permits: PermitStateMachine<Slot>
        /// The number of permits that entries have given up in this call, and that have not been passed on.
        var freed = 0
    }

    /// Takes a permit for a task that its key lets start. If none is available, the task is then in line, and the caller
    /// must set its phase to `queued`.
    ///
    /// - Returns: Whether the task may start: it has a permit, or the registry has no limit.
    mutating func takePermit(_ slot: Slot, _ effects: inout Effects) -> Bool {
        guard limit != nil else { return true }
        passPermitsOn(&effects)
        guard let permit = limit!.permits.acquire(1) else { return true }
        // The machine of the permits returns a waiter that has parked, and the slot is known now.
        _ = limit!.permits.park(permit, slot)
        sides[slot, default: Side()].permit = permit
        return false
    }

    /// Records that a task gives its permit up, because it has finished or will not begin, or that it no longer waits for
    /// one. The caller must then call `passPermitsOn`.
    mutating func givePermitUp(_ slot: Slot) {
        let phase = entries[slot].phase
        if phase.hasPermit {
            limit!.freed += 1
        } else if phase == .queued, let permit = sides[slot]?.permit {
            // No other task receives a permit: none was available.
            _ = limit!.permits.leave(permit)
            sides[slot]?.permit = nil
        }
    }

    /// Gives the permits that tasks have given up to the tasks that wait for them, in the order of the line.
    mutating func passPermitsOn(_ effects: inout Effects) {
        guard let freed = limit?.freed, freed > 0 else { return }
        limit!.freed = 0
        guard case .granted(let slots) = limit!.permits.release(freed) else { return }
        for slot in slots {
            sides[slot]?.permit = nil
            entries[slot].phase = sides[slot]?.cancelsOlder == true ? .admitted : .starting
            effects.startsWaitingTask = true
            effects.wake(takeParked(slot))
        }
    }
}
