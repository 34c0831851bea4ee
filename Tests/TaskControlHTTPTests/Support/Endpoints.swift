import TaskControlHTTP

/// An endpoint whose content is text, and that accepts every status.
struct Text: Endpoint, URLRequestBuildable {
    typealias Content = String

    var path = "text"
    var method = "GET"
    var headers: [String: String] = [:]
    var acceptedStatuses: AcceptedStatuses { .all }

    func makeRequest() throws -> URLRequest {
        var request = URLRequest(url: URL(string: path)!)
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }
}

/// An endpoint that accepts 2xx.
struct Checked: Endpoint, URLRequestBuildable {
    typealias Content = String

    var path = "checked"

    func makeRequest() throws -> URLRequest { get(URL(string: path)!) }
}

struct Numbers: Endpoint, URLRequestBuildable {
    typealias Content = [Int]

    func makeRequest() throws -> URLRequest { get(URL(string: "numbers?token=hush")!) }
}

struct Upload: UploadEndpoint, URLRequestBuildable {
    typealias Content = String

    var path = "upload"
    let body: UploadEndpointBody

    func makeRequest() throws -> (URLRequest, UploadEndpointBody) { (put(URL(string: path)!), body) }
}

/// An error of the test's own.
struct Mishap: Error, Hashable {
    var name = ""
}

extension EndpointClient {
    /// A client of a server that is not there, over a scripted transport.
    convenience init(
        _ transport: any HTTPTransport,
        name: String? = nil,
        policies: ClientPolicies = ClientPolicies(),
        decoder: JSONDecoder = JSONDecoder(),
        encoder: JSONEncoder = JSONEncoder(),
        completionQueue: DispatchQueue = .main,
        observer: ResponseObserver? = nil
    ) {
        self.init(
            name: name,
            requestAdapter: BaseURLAdapter(baseURL: URL(string: "http://h/api")!),
            transport: transport,
            policies: policies,
            decoder: decoder,
            encoder: encoder,
            completionQueue: completionQueue,
            responseObserver: observer
        )
    }
}
