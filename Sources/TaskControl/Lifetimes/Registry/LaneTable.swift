extension TaskRegistryStateMachine {
    /// The registered tasks (entries) of one key. Has no reference, so that reading it copies nothing: ``LaneTable`` stores the key.
    struct Lane {
        /// The entries of the lane, oldest first, except those in the phases `skipped` and `left`.
        var chain = Chain()
        var entryCount: Int32 = 0
        var liveCount: Int32 = 0
        /// The newest linked entry such that neither this entry nor an older one can be replaced before it begins.
        var begunUpTo = Chain.none
        /// The newest linked entry such that neither this entry nor an older one is live.
        var cancelledUpTo = Chain.none
        /// The newest entry with the behavior `debounce`. Its slot may have another entry meanwhile, if it has finished.
        var debounced = Chain.none
        /// The entry that has replaced an entry with a permit, and has not received a permit: see ``Limit``.
        var successor = Chain.none
    }

    /// The lanes of a registry, which keep their slots, and are found by their keys.
    struct LaneTable {
        private struct Element: Keyed {
            let key: Key
            var nextInBucket = Chain.none
        }

        private var keys = KeyTable<Element>()
        /// The lanes by their slots. Those of slots that have no key are not used.
        private var lanes: ContiguousArray<Lane> = []

        var count: Int { keys.count }

        var isEmpty: Bool { keys.isEmpty }

        /// The upper bound of the slots.
        var extent: Slot { keys.extent }

        /// The number of lanes for which memory is allocated.
        var capacity: Int { max(keys.capacity, lanes.capacity) }

        func isOccupied(_ slot: Slot) -> Bool { keys.isOccupied(slot) }

        /// Accesses the lane in a slot, which must be occupied, in place.
        subscript(slot: Slot) -> Lane {
            @inline(__always) _read { yield lanes[Int(slot)] }
            @inline(__always) _modify { yield &lanes[Int(slot)] }
        }

        /// Returns the key of the lane in a slot, which must be occupied.
        func key(at slot: Slot) -> Key { keys[slot].key }

        /// Returns the slot of the lane of a key; `nil` if the key has no lane.
        func slot(of key: Key) -> Slot? { keys.index(of: key) }

        /// Inserts an empty lane for a key that has none, and returns its slot.
        mutating func insert(_ key: Key) -> Slot {
            let slot = keys.insert(Element(key: key))
            if Int(slot) == lanes.count { lanes.append(Lane()) } else { lanes[Int(slot)] = Lane() }
            return slot
        }

        /// Removes the lane in a slot, which must be occupied, and returns its key.
        mutating func remove(_ slot: Slot) -> Key {
            let key = keys.remove(slot).key
            if lanes.count > SlotTable<Lane>.smallest, Int(extent) < lanes.count / 4 {
                lanes.removeLast(lanes.count - Int(extent))
                lanes.shrinkIfMostlyEmpty(keeping: SlotTable<Lane>.smallest)
            }
            return key
        }
    }
}
