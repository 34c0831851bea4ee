import Foundation
import TaskControlHTTP

/// An upload, a stream and a download, which begin together.
struct Transfers: ~Copyable {
    let upload: Task<String, any Error>
    let stream: Task<Int, any Error>
    let download: Task<Int, any Error>
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    init(_ client: EndpointClient) {
        upload = Task { try await client.upload(Upload(body: .data(Data("x".utf8)))) }
        stream = Task { try await client.withResponse(to: Text()) { $0.head.statusCode } }
        download = Task { [file] in try await client.download(Text(), to: file).statusCode }
    }

    deinit { try? FileManager.default.removeItem(at: file) }
}
