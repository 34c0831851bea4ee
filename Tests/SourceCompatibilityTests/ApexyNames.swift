import TaskControlHTTP

// The names of the document.
typealias APIResult<Value> = Result<Value, any Error>
typealias BaseRequestAdapter = BaseURLAdapter
typealias Client = APIClient
typealias URLSessionClient = EndpointClient
