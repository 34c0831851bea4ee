package import TaskControl

/// In the tests of a machine, the word of a task or a waiter is its number.
extension Word: ExpressibleByIntegerLiteral {
    package init(_ number: Int) { self.init(bits: UInt(number) + 1) }

    package init(integerLiteral number: Int) { self.init(number) }

    package var number: Int { Int(bits) - 1 }
}
