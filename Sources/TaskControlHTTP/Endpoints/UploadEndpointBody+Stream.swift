public import Foundation

extension UploadEndpointBody {
    /// The body of an upload that is a stream, in the form that an ``HTTPTransport`` receives it: the length of the stream,
    /// and a closure that creates it.
    public struct Stream: Sendable {
        /// The length of the stream in bytes; `nil` if it is not known.
        public let length: Int64?

        let canBeSentAgain: Bool

        /// The closure that creates the stream. The transport calls it each time that the body is sent, and opens the
        /// returned stream.
        public let open: @Sendable () throws -> InputStream
    }
}
