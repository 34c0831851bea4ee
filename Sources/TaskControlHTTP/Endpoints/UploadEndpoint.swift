#if canImport(FoundationNetworking)
internal import Foundation
#else
public import Foundation
#endif

/// The description of an upload: its request, its body, and the type of the content of its response.
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
/// let cover = try await client.upload(CoverEndpoint(book: 7, file: url))
/// ```
///
/// The response is validated and decoded like that of an ``Endpoint``: see ``ResponseEndpoint``.
public protocol UploadEndpoint: ResponseEndpoint {
    /// Returns the request and the body to upload. The client adds the parts that all of its requests have in common:
    /// the base URL and the credentials. The `httpBody` of the request is not sent.
    ///
    /// Called once per upload, even if the request is sent more than once.
    func makeRequest() throws -> (URLRequest, UploadEndpointBody)
}
