/// An error whose text in events is not its description, for example because the description may contain secrets.
package protocol EventDescribable: Error {
    var eventText: String { get }
}
