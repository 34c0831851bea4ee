/// The parts of an endpoint, or of an upload endpoint, that a call uses.
struct EndpointCall<Content> {
    private let coding: CallCoding
    private let request: () throws -> (URLRequest, UploadEndpointBody?)
    private let validation: (URLRequest?, HTTPURLResponse, Data?) throws -> Void
    private let decoding: (URLResponse?, Data) throws -> Content

    init<E: Endpoint>(_ endpoint: E, _ coding: CallCoding) where E.Content == Content {
        self.coding = CallCoding(
            decoder: endpoint.decoder ?? coding.decoder,
            encoder: endpoint.encoder ?? coding.encoder
        )
        request = { (try endpoint.makeRequest(), nil) }
        validation = endpoint.validate
        decoding = endpoint.content
    }

    init<E: UploadEndpoint>(_ endpoint: E, _ coding: CallCoding) where E.Content == Content {
        self.coding = CallCoding(
            decoder: endpoint.decoder ?? coding.decoder,
            encoder: endpoint.encoder ?? coding.encoder
        )
        request = { try endpoint.makeRequest() }
        validation = endpoint.validate
        decoding = endpoint.content
    }

    func makeRequest() throws -> (URLRequest, UploadEndpointBody?) {
        try coding.bind(request)
    }

    func validate(_ request: URLRequest, _ response: HTTPURLResponse, _ data: Data?) throws {
        try coding.bind { try validation(request, response, data) }
    }

    func content(from response: HTTPURLResponse?, with body: Data) throws -> Content {
        try coding.bind { try decoding(response, body) }
    }
}
