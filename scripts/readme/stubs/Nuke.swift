// The declarations of Nuke that "Moving from Nuke's coalescing" uses, without any behavior. A parameter that the article does not use is left out.
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

public struct ImageRequest: Sendable {
    public init(id: String, data: @escaping @Sendable () async throws -> Data) {}
}

public final class ImagePipeline: Sendable {
    public static let shared = ImagePipeline()

    public func data(for request: ImageRequest) async throws -> (Data, URLResponse?) { (Data(), nil) }
}
