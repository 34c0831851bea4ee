internal import Foundation

/// The part of a response that has arrived so far.
struct ReceivedResponse: Sendable {
    /// The status and the headers; `nil` before they have arrived.
    var head: HTTPURLResponse?
    /// The part of the body that has been collected; `nil` before the transport has delivered any.
    var body: Data?

    /// Adds a part to the body.
    mutating func append(_ chunk: Data) {
        // The first part is taken over without a copy: often it is the whole body.
        if body?.isEmpty == false { body?.append(chunk) } else { body = chunk }
    }
}
