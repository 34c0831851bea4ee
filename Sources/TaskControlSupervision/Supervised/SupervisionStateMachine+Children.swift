extension SupervisionStateMachine {
    /// The children whose end is not published, or has waiters that have not parked yet, in the order in which they were added. Each has a number, which is never used again: a late
    /// event of a child that has ended meets no other child.
    struct Children {
        private var slots: [(number: Int, child: Child)] = []
        /// The number of the child that is added next.
        private(set) var nextNumber = 0

        var numbers: [Int] { slots.map(\.number) }

        var isEmpty: Bool { slots.isEmpty }

        /// - Complexity: O(log *n*).
        func contains(_ number: Int) -> Bool { position(of: number) != nil }

        /// A child, which must be there.
        ///
        /// - Complexity: O(log *n*).
        subscript(number: Int) -> Child {
            get { slots[position(of: number)!].child }
            _modify { yield &slots[position(of: number)!].child }
        }

        /// - Returns: The number of the child.
        mutating func append(_ child: Child) -> Int {
            defer { nextNumber += 1 }
            slots.append((nextNumber, child))
            return nextNumber
        }

        /// Whether a child was added, and its end is not published.
        func isPresent(_ number: Int) -> Bool { contains(number) && !self[number].isEndPublished }

        /// Removes a child whose end is published, unless a waiter must learn an outcome when it parks.
        ///
        /// - Complexity: O(*n*).
        mutating func removeIfOver(_ number: Int) {
            guard let position = position(of: number), slots[position].child.isForgettable else { return }
            slots.remove(at: position)
        }

        func first(where isWanted: (Child) -> Bool) -> Int? { slots.first { isWanted($0.child) }?.number }

        func last(where isWanted: (Child) -> Bool) -> Int? { slots.last { isWanted($0.child) }?.number }

        func count(where isWanted: (Child) -> Bool) -> Int { slots.count { isWanted($0.child) } }

        func allSatisfy(_ isRight: (Child) -> Bool) -> Bool { slots.allSatisfy { isRight($0.child) } }

        /// Whether all children that were added before another one satisfy a condition.
        func allSatisfy(before number: Int, _ isRight: (Child) -> Bool) -> Bool {
            slots.prefix { $0.number < number }.allSatisfy { isRight($0.child) }
        }

        /// The slots are in the order of their numbers.
        private func position(of number: Int) -> Int? {
            var (low, high) = (slots.startIndex, slots.endIndex)
            while low < high {
                let middle = (low + high) / 2
                if slots[middle].number < number { low = middle + 1 } else { high = middle }
            }
            return low < slots.endIndex && slots[low].number == number ? low : nil
        }
    }
}
