/// The part of a response that has arrived.
struct ReceivedResponse: Sendable {
    /// The status and the headers.
    var head: HTTPURLResponse?
    /// The body as far as it has been collected; `nil` before the transport has handed it over.
    var body: Data?

    /// Adds a part to the body.
    mutating func append(_ chunk: Data) {
        // The first part is taken over without a copy: often it is the whole body.
        if body?.isEmpty == false { body?.append(chunk) } else { body = chunk }
    }
}
