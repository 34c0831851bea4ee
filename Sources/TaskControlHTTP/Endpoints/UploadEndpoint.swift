/// An upload to a server, and what comes back.
///
/// ```swift
/// struct CoverEndpoint: UploadEndpoint {
///     typealias Content = Cover
///     let book: Book.ID
///     let file: URL
///
///     func makeRequest() throws -> (URLRequest, UploadEndpointBody) {
///         (put("books/\(book)/cover"), .file(file))
///     }
/// }
///
/// let cover = try await client.upload(CoverEndpoint(book: 7, file: picture))
/// ```
///
/// The response is read as that of an ``Endpoint``: see ``ResponseEndpoint``.
public protocol UploadEndpoint: ResponseEndpoint {
    /// The request, without what all requests have in common, and what is to be sent with it. The request's own body is
    /// not sent.
    ///
    /// Called once a call of the client, also when the request is sent again.
    func makeRequest() throws -> (URLRequest, UploadEndpointBody)
}
