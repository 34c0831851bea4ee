/// An error that belongs to one test.
package struct MarkedError: Error, Hashable {
    package let mark: String

    package init(_ mark: String = #function) {
        self.mark = mark
    }
}
