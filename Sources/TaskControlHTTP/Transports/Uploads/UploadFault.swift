/// A record of whether the body of an upload could not be opened or read: the file or the stream has failed, which is the
/// client's own. Such a failure says nothing about the host, whatever the type of its error is.
final class UploadFault: Sendable {
    private let state = Locked(false)

    private init() {}

    /// Returns a record for a body; `nil` if the body is neither a file nor a stream.
    static func record(for body: UploadEndpointBody?) -> UploadFault? {
        switch body {
        case nil, .data: nil
        case .file, .stream: UploadFault()
        }
    }

    /// Whether the body failed when it was last opened, or since.
    var hasOccurred: Bool { state.withLock(\.self) }

    /// Calls a function that opens the body, and records whether it throws.
    func opening<Value>(_ open: () throws -> Value) rethrows -> Value {
        state.withLock { $0 = false }
        return try reading(open)
    }

    /// Calls a function that reads the body, and records it if the function throws.
    func reading<Value>(_ read: () throws -> Value) rethrows -> Value {
        do {
            return try read()
        } catch {
            // This is an error of the transport, which needs a body again that can be sent once.
            if !(error is UploadStreamConsumed) { record() }
            throw error
        }
    }

    /// Records that the body could not be read.
    func record() { state.withLock { $0 = true } }
}
