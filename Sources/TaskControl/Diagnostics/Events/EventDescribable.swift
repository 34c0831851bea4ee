/// An error that has a text of its own for events, which shows less than its description, for example no secrets.
package protocol EventDescribable: Error {
    var eventText: String { get }
}
