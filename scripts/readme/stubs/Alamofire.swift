// The declarations of Alamofire 5 that the article "Sending requests through Alamofire" uses, without any behavior: the
// article is compiled against them, so that no gate resolves Alamofire. A parameter that the article does not use is left out.
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

public protocol URLRequestConvertible: Sendable {}

extension URLRequest: URLRequestConvertible {}

public protocol ServerTrustEvaluating: Sendable {}

public struct PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
    public init() {}
}

open class ServerTrustManager: @unchecked Sendable {
    public init(evaluators: [String: any ServerTrustEvaluating]) {}
}

public protocol RedirectHandler: Sendable {}

public struct Redirector: RedirectHandler {
    public enum Behavior: Sendable {
        case follow
        case doNotFollow
        case modify(@Sendable (_ task: URLSessionTask, _ request: URLRequest, _ response: HTTPURLResponse) -> URLRequest?)
    }

    public init(behavior: Behavior) {}
}

public enum AFError: Error {
    case explicitlyCancelled
    case sessionTaskFailed(error: any Error)

    public var underlyingError: (any Error)? { nil }
}

public struct DataResponse<Success, Failure: Error> {
    public let request: URLRequest?
    public let response: HTTPURLResponse?
    public let data: Data?
    public let error: Failure?
}

extension DataResponse: Sendable where Success: Sendable {}

public typealias AFDataResponse<Success> = DataResponse<Success, AFError>

open class Request: @unchecked Sendable {
    @discardableResult
    public func cancel() -> Self { self }

    @discardableResult
    public func redirect(using handler: any RedirectHandler) -> Self { self }

    @discardableResult
    public func uploadProgress(
        queue: DispatchQueue = .main,
        closure: @escaping @Sendable (_ progress: Progress) -> Void
    ) -> Self {
        self
    }
}

public class DataRequest: Request, @unchecked Sendable {
    @discardableResult
    public func response(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDataResponse<Data?>) -> Void
    ) -> Self {
        self
    }
}

public final class UploadRequest: DataRequest, @unchecked Sendable {}

open class Session: @unchecked Sendable {
    public var sessionConfiguration: URLSessionConfiguration { .default }

    public init(
        configuration: URLSessionConfiguration = URLSessionConfiguration.af.default,
        serverTrustManager: ServerTrustManager? = nil
    ) {}

    open func request(_ urlRequest: any URLRequestConvertible) -> DataRequest { fatalError("a stub") }

    open func upload(_ data: Data, with convertible: any URLRequestConvertible) -> UploadRequest { fatalError("a stub") }

    open func upload(_ fileURL: URL, with convertible: any URLRequestConvertible) -> UploadRequest {
        fatalError("a stub")
    }

    open func upload(_ stream: InputStream, with convertible: any URLRequestConvertible) -> UploadRequest {
        fatalError("a stub")
    }
}

public struct AlamofireExtension<ExtendedType> {}

extension URLSessionConfiguration {
    public static var af: AlamofireExtension<URLSessionConfiguration>.Type { AlamofireExtension<URLSessionConfiguration>.self }
}

extension AlamofireExtension where ExtendedType: URLSessionConfiguration {
    public static var `default`: URLSessionConfiguration { .default }
}
