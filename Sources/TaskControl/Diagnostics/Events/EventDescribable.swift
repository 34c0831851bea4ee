/// An error that shows less in an event than elsewhere.
package protocol EventDescribable: Error {
    var eventText: String { get }
}
