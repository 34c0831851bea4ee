import TaskControlApexy

/// An endpoint whose content is text, and that accepts every status.
struct Text: Endpoint {
    typealias Content = String

    var acceptedStatuses: AcceptedStatuses { .all }

    func makeRequest() throws -> URLRequest { get("text") }
}

/// An endpoint that accepts 2xx.
struct Checked: Endpoint {
    typealias Content = String

    func makeRequest() throws -> URLRequest { get("checked") }
}

struct Upload: UploadEndpoint {
    typealias Content = String

    let body: UploadEndpointBody

    func makeRequest() throws -> (URLRequest, UploadEndpointBody) { (put("upload"), body) }
}

/// An error of the test's own.
struct Mishap: Error, Hashable {}

extension EndpointClient {
    /// A client of a server that is not there, over a scripted transport.
    convenience init(_ transport: any HTTPTransport, completionQueue: DispatchQueue = .main) {
        self.init(
            requestAdapter: BaseURLAdapter(baseURL: URL(string: "http://h/api")!),
            transport: transport,
            completionQueue: completionQueue
        )
    }
}
