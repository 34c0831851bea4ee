extension SupervisionStateMachine {
    /// The children in the order in which they were added. A child is removed when its end was published and each
    /// caller that waited for the child has received an outcome. Each child has a number that is never reused, so a
    /// late event of a removed child has no effect on another child.
    ///
    /// A binary tree over the children stores in each node the ``Summary`` of the children below it. So a child with a
    /// property is found, and the change of a child is recorded, in O(log *n*).
    struct Children {
        private struct Slot {
            let number: Int
            /// The child; `nil` if it was removed.
            var child: Child?
        }

        /// The children in the order of their numbers. Removed children leave vacant slots, which are removed when they
        /// are more than half of the slots.
        private var slots: ContiguousArray<Slot> = []
        private var vacantCount = 0
        /// The tree: node 1 is the root, the nodes below node *k* are 2*k* and 2*k* + 1, and the leaf of a slot is at
        /// ``width`` plus the position of the slot.
        private var nodes: ContiguousArray<Summary> = []
        /// The number of leaves of the tree: zero or a power of two.
        private var width = 0
        /// The number that the next child receives.
        private(set) var nextNumber = 0
        /// The number of slots and nodes that were visited since the machine was created, from which tests derive the
        /// complexity.
        private(set) var visitCount = 0

        var numbers: [Int] { slots.compactMap { $0.child == nil ? nil : $0.number } }

        var isEmpty: Bool { slots.count == vacantCount }

        /// The summary of all children.
        var summary: Summary { width == 0 ? Summary() : nodes[1] }

        /// Returns whether `number` is the number of a child that was added and is still stored.
        ///
        /// - Complexity: O(log *n*).
        func contains(_ number: Int) -> Bool { position(of: number) != nil }

        /// Accesses the child with the given number, which must still be stored.
        ///
        /// - Complexity: O(log *n*).
        subscript(number: Int) -> Child {
            get { slots[position(of: number)!].child! }
            _modify {
                let position = position(of: number)!
                defer { summarize(position) }
                yield &slots[position].child!
            }
        }

        /// Adds a child after the others.
        ///
        /// - Returns: The number of the child.
        /// - Complexity: O(log *n*), amortized.
        mutating func append(_ child: Child) -> Int {
            defer { nextNumber += 1 }
            slots.append(Slot(number: nextNumber, child: child))
            if slots.count > width { rebuild() } else { summarize(slots.count - 1) }
            return nextNumber
        }

        /// Returns whether `number` is the number of a child that was added and whose end was not published.
        func isPresent(_ number: Int) -> Bool { contains(number) && !self[number].isEndPublished }

        /// Removes the child with the given number if its end was published and no caller that waits for the child must
        /// still receive an outcome.
        ///
        /// - Complexity: O(log *n*), amortized.
        mutating func removeIfOver(_ number: Int) {
            guard let position = position(of: number), slots[position].child?.isForgettable == true else { return }
            slots[position].child = nil
            vacantCount += 1
            if vacantCount > slots.count / 2 {
                slots.removeAll { $0.child == nil }
                vacantCount = 0
                rebuild()
            } else {
                summarize(position)
            }
        }

        // MARK: The tree

        /// Returns the number of the first child that has one of the given traits.
        mutating func first(with traits: Traits) -> Int? {
            first { !$0.traits.isDisjoint(with: traits) }
        }

        /// Returns the number of the last child that has one of the given traits.
        mutating func last(with traits: Traits) -> Int? {
            find(from: 1) { !$0.traits.isDisjoint(with: traits) }
        }

        /// Returns the number of the first child whose summary satisfies a predicate. The predicate must be satisfied
        /// by the summary of several children exactly if it is satisfied by that of one of them.
        ///
        /// - Complexity: O(log *n*).
        mutating func first(where isWanted: (Summary) -> Bool) -> Int? { find(from: 0, isWanted) }

        /// Descends from the root of the tree to a child.
        ///
        /// - Parameters:
        ///   - side: The node that is visited first of two: 0 for that of the earlier children, 1 for the other.
        ///   - isWanted: The predicate that the summary of the child satisfies.
        private mutating func find(from side: Int, _ isWanted: (Summary) -> Bool) -> Int? {
            guard width > 0, isWanted(nodes[1]) else { return nil }
            var node = 1
            while node < width {
                visitCount += 1
                node = 2 * node + side
                if !isWanted(nodes[node]) { node ^= 1 }
            }
            return slots[node - width].number
        }

        /// Updates the nodes above a slot whose child has changed.
        private mutating func summarize(_ position: Int) {
            var node = width + position
            var summary = slots[position].child.map { Summary($0) } ?? Summary()
            while nodes[node] != summary {
                visitCount += 1
                nodes[node] = summary
                node /= 2
                if node == 0 { return }
                summary = Summary(nodes[2 * node], nodes[2 * node + 1])
            }
        }

        /// Makes the tree again, with room for as many further children as there are slots.
        private mutating func rebuild() {
            width = 1
            while width < 2 * slots.count { width *= 2 }
            nodes = ContiguousArray(repeating: Summary(), count: 2 * width)
            for (position, slot) in slots.enumerated() {
                if let child = slot.child { nodes[width + position] = Summary(child) }
            }
            for node in stride(from: width - 1, to: 0, by: -1) {
                nodes[node] = Summary(nodes[2 * node], nodes[2 * node + 1])
            }
            visitCount += 2 * width
        }

        /// Returns the position of the child with the given number in ``slots``; `nil` if the child was removed. Uses a
        /// binary search, since the numbers are in ascending order.
        private func position(of number: Int) -> Int? {
            var (low, high) = (slots.startIndex, slots.endIndex)
            while low < high {
                let middle = (low + high) / 2
                if slots[middle].number < number { low = middle + 1 } else { high = middle }
            }
            guard low < slots.endIndex, slots[low].number == number, slots[low].child != nil else { return nil }
            return low
        }
    }

    /// The properties of a child by which the machine finds the next action.
    struct Traits: OptionSet {
        let rawValue: UInt16

        /// The child has not completed, and was neither stopped permanently nor has failed permanently.
        static var isUnfinished: Self { Self(rawValue: 1 << 0) }
        /// The coordinator must publish that the child is ready.
        static var isReadyNews: Self { Self(rawValue: 1 << 1) }
        static var hasEnded: Self { Self(rawValue: 1 << 2) }
        /// The child was restarted, the task of its run has begun, and the restart is not in the ``RestartWindow`` yet.
        static var isUnrecorded: Self { Self(rawValue: 1 << 3) }
        /// With the strategies ``Supervisor/Strategy/all`` and ``Supervisor/Strategy/rest``, the children after this
        /// child must not start.
        static var delaysOthers: Self { Self(rawValue: 1 << 4) }
        /// With the strategy ``Supervisor/Strategy/one``, the first runs of the children after this child must not
        /// start.
        static var delaysFirstRuns: Self { Self(rawValue: 1 << 5) }
        /// The child must stop, either permanently by itself, or with the others.
        static var mustStop: Self { Self(rawValue: 1 << 6) }
        /// The child must stop because of the others.
        static var mustStopInGroup: Self { Self(rawValue: 1 << 7) }
        /// The child is being stopped by itself, and the next step need not wait.
        static var stopsAlone: Self { Self(rawValue: 1 << 8) }
        /// The child is being stopped by itself, and its grace period has not ended.
        static var isInGraceAlone: Self { Self(rawValue: 1 << 9) }
    }

    /// The properties of one or more children together.
    struct Summary: Equatable {
        /// The traits that at least one of the children has.
        private(set) var traits: Traits = []
        /// The earliest time at which one of the children that wait for a restart may start; `nil` if there is none.
        private(set) var earliestRestart: Duration?
        /// The earliest end of a grace period of a child with the trait ``Traits/isInGraceAlone``; `nil` if there is
        /// none.
        private(set) var earliestEndOfGrace: Duration?
        /// The number of children whose current run is a restart that is not in the ``RestartWindow`` yet.
        private(set) var unrecordedCount = 0
        /// The lowest raw priority to which a child that is not ready was escalated; the maximum if there is none.
        private(set) var leastRaised = UInt8.max

        /// The summary of no children.
        init() {}

        init(_ child: Child) {
            if child.isReadyNews { traits.insert(.isReadyNews) }
            if case .ended = child.phase { traits.insert(.hasEnded) }
            if child.isUnrecorded {
                unrecordedCount = 1
                if child.phase != .launching { traits.insert(.isUnrecorded) }
            }
            if child.isOver { return }
            traits.insert(.isUnfinished)
            if child.phase != .ready { traits.insert(.delaysOthers) }
            if !child.hasBeenReady { traits.insert(.delaysFirstRuns) }
            if child.phase != .ready || child.mustStop { leastRaised = child.raisedTo }
            if child.mustStop {
                traits.insert(.mustStop)
                if !child.isRetired { traits.insert(.mustStopInGroup) }
            } else if child.phase == .pending, child.run > 0, !child.isHeld {
                earliestRestart = child.notBefore
            }
            if child.isRetired, child.phase != .launching {
                if !child.isActive || child.stop == nil {
                    traits.insert(.stopsAlone)
                } else if let stop = child.stop, !stop.isCancelled {
                    traits.insert(.isInGraceAlone)
                    earliestEndOfGrace = stop.deadline
                }
            }
        }

        /// Combines the summaries of two groups of children.
        init(_ first: Summary, _ second: Summary) {
            traits = first.traits.union(second.traits)
            earliestRestart = earliest(first.earliestRestart, second.earliestRestart)
            earliestEndOfGrace = earliest(first.earliestEndOfGrace, second.earliestEndOfGrace)
            unrecordedCount = first.unrecordedCount + second.unrecordedCount
            leastRaised = min(first.leastRaised, second.leastRaised)
        }

        /// Returns whether one of the children is being stopped by itself, and its next step need not wait.
        ///
        /// - Parameters:
        ///   - now: The current time.
        ///   - isAbrupt: Whether grace periods end at once.
        func mustStopAlone(at now: Duration, isAbrupt: Bool) -> Bool {
            if traits.contains(.stopsAlone) { return true }
            if isAbrupt { return traits.contains(.isInGraceAlone) }
            return earliestEndOfGrace.map { $0 <= now } ?? false
        }
    }
}

/// Returns the earlier of two times, of which each may be absent.
func earliest(_ first: Duration?, _ second: Duration?) -> Duration? {
    guard let first, let second else { return first ?? second }
    return min(first, second)
}
