extension SupervisionStateMachine {
    /// The children in the order in which they were added. A child is removed when its end was published and each
    /// caller that waited for the child has received an outcome. Each child has a number that is never reused, so a
    /// late event of a removed child has no effect on another child.
    struct Children {
        private var slots: [(number: Int, child: Child)] = []
        /// The number that the next child receives.
        private(set) var nextNumber = 0

        var numbers: [Int] { slots.map(\.number) }

        var isEmpty: Bool { slots.isEmpty }

        /// Returns whether `number` is the number of a child that was added and is still stored.
        ///
        /// - Complexity: O(log *n*).
        func contains(_ number: Int) -> Bool { position(of: number) != nil }

        /// Accesses the child with the given number, which must still be stored.
        ///
        /// - Complexity: O(log *n*).
        subscript(number: Int) -> Child {
            get { slots[position(of: number)!].child }
            _modify { yield &slots[position(of: number)!].child }
        }

        /// Adds a child after the others.
        ///
        /// - Returns: The number of the child.
        mutating func append(_ child: Child) -> Int {
            defer { nextNumber += 1 }
            slots.append((nextNumber, child))
            return nextNumber
        }

        /// Returns whether `number` is the number of a child that was added and whose end was not published.
        func isPresent(_ number: Int) -> Bool { contains(number) && !self[number].isEndPublished }

        /// Removes the child with the given number if its end was published and no caller that waits for the child must
        /// still receive an outcome.
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

        /// Returns whether `isRight` returns `true` for all children that were added before the child with the number
        /// `number`.
        func allSatisfy(before number: Int, _ isRight: (Child) -> Bool) -> Bool {
            slots.prefix { $0.number < number }.allSatisfy { isRight($0.child) }
        }

        /// Returns the position of the child with the given number in ``slots``; `nil` if the child was removed. Uses a
        /// binary search, since the numbers are in ascending order.
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
