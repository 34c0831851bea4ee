/// The decoder and the encoder of a call.
///
/// The requirements of ``Endpoint`` have no parameter for them. A client binds them around each of its synchronous
/// calls to an endpoint, so the binding ends with the call.
struct CallCoding: Sendable {
    @TaskLocal private static var current: CallCoding?

    var decoder: JSONDecoder
    var encoder: JSONEncoder

    /// The decoder of the running call, or a new one outside a call.
    static var decoder: JSONDecoder { current?.decoder ?? JSONDecoder() }

    /// The encoder of the running call, or a new one outside a call.
    static var encoder: JSONEncoder { current?.encoder ?? JSONEncoder() }

    /// Runs a synchronous call to an endpoint with this decoder and encoder.
    func bind<Value>(_ body: () throws -> Value) rethrows -> Value {
        try Self.$current.withValue(self, operation: body)
    }
}
