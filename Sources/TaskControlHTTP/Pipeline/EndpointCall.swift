internal import Foundation

/// The functions of an endpoint or an upload endpoint that a call uses, and the ``RequestPipeline`` of the call.
struct EndpointCall<Content> {
    let pipeline: RequestPipeline
    private let request: () throws -> (URLRequest, UploadEndpointBody?)
    private let validation: (URLRequest?, HTTPURLResponse, Data?) throws -> Void
    private let decoding: (URLResponse?, Data) throws -> Content

    init<E: Endpoint>(_ endpoint: E, _ pipeline: RequestPipeline) where E.Content == Content {
        self.init(endpoint, pipeline) { (try endpoint.makeRequest(), nil) }
    }

    init<E: UploadEndpoint>(_ endpoint: E, _ pipeline: RequestPipeline) where E.Content == Content {
        self.init(endpoint, pipeline) { try endpoint.makeRequest() }
    }

    private init<E: ResponseEndpoint>(
        _ endpoint: E,
        _ pipeline: RequestPipeline,
        _ request: @escaping () throws -> (URLRequest, UploadEndpointBody?)
    ) where E.Content == Content {
        self.pipeline = pipeline.call(endpoint.adjust, endpoint.decoder, endpoint.encoder)
        self.request = request
        validation = endpoint.validate
        decoding = endpoint.content
    }

    func makeRequest() throws -> (URLRequest, UploadEndpointBody?) {
        try pipeline.coding.bind(request)
    }

    func validate(_ request: URLRequest, _ response: HTTPURLResponse, _ data: Data?) throws {
        try pipeline.coding.bind { try validation(request, response, data) }
    }

    func content(from response: HTTPURLResponse?, with body: Data) throws -> Content {
        try pipeline.coding.bind { try decoding(response, body) }
    }
}
