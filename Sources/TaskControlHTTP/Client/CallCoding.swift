/// The JSON decoder and encoder of a call of an ``APIClient``, in a task-local value.
///
/// The functions of an ``Endpoint`` have no parameter for them. A client binds the value around each of its synchronous
/// calls to an endpoint, so the binding ends with the call.
///
/// A class, so that the task-local value is one reference, as all of this package are.
final class CallCoding: Sendable {
    @TaskLocal private static var current: CallCoding?

    let decoder: JSONDecoder
    let encoder: JSONEncoder

    init(decoder: JSONDecoder, encoder: JSONEncoder) {
        self.decoder = decoder
        self.encoder = encoder
    }

    /// The decoder of the current call of a client; a new decoder outside such a call.
    static var decoder: JSONDecoder { current?.decoder ?? JSONDecoder() }

    /// The encoder of the current call of a client; a new encoder outside such a call.
    static var encoder: JSONEncoder { current?.encoder ?? JSONEncoder() }

    /// Calls a function of an endpoint with this decoder and encoder as those of the current call of the client.
    func bind<Value>(_ body: () throws -> Value) rethrows -> Value {
        try Self.$current.withValue(self, operation: body)
    }
}
