/// The result that a completion handler of a client receives: the decoded content of a response, or an error.
public typealias APIResult<Value> = Result<Value, any Error>

/// The name in Apexy of `BaseURLAdapter`, which joins the URLs of endpoints to that of the server.
public typealias BaseRequestAdapter = BaseURLAdapter

/// The name of `BaseURLAdapter` in Apexy's module for Alamofire.
public typealias BaseRequestInterceptor = BaseURLAdapter

/// The name in Apexy of `APIClient`. The protocol is not bound to classes: a `weak` variable of this type does not compile.
public typealias Client = APIClient

/// The name in Apexy of an `APIClient` with `async` functions, which each has.
public typealias ConcurrencyClient = APIClient

/// The name in Apexy of `EndpointBody`, the body of a request with its media type.
public typealias HTTPBody = EndpointBody

/// The name in Apexy of `URLRequestAdapter`, which changes each request before it is sent.
public typealias RequestAdapter = URLRequestAdapter

/// The name in Apexy of `EndpointClient`. Despite this name, the client can use any transport.
public typealias URLSessionClient = EndpointClient

extension EndpointBody {
    /// Encodes text in UTF-8, and returns a body with the media type `text/plain; charset=utf-8`.
    public static func string(_ string: String) -> EndpointBody { text(string) }
}
