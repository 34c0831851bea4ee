/// An upload to a server, and the type of the response.
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
/// The response is validated and decoded like that of an ``Endpoint``: see ``ResponseEndpoint``.
public protocol UploadEndpoint: ResponseEndpoint {
    /// Returns the request, without the parts that all requests have in common (the server and the credentials), and
    /// the body to upload. The body of the request itself is not sent.
    ///
    /// Called once per call of the client, even if the request is sent more than once.
    func makeRequest() throws -> (URLRequest, UploadEndpointBody)
}
