import Foundation

/// A line that a worker sends to the director, over its standard output.
enum Message: Hashable, Codable {
    /// The worker holds the lease, with a fencing token.
    case elected(token: Int64)
    /// The worker asks which steps of the job are written.
    case begin(token: Int64)
    /// The worker writes a step of the job.
    case write(step: Int, token: Int64)
    /// The worker has left its tenure.
    case resigned(token: Int64, End)
    /// The worker ends because of an error.
    case failed(String)

    /// The way in which a tenure ends, as the worker sees it.
    enum End: Hashable, Codable {
        case finishedTheJob
        case lost(String)
        case failed(String)
    }
}

/// A message and its time, on the clock that all processes of a machine share.
struct Report: Hashable, Codable {
    /// The seconds since the machine was started.
    let time: Double
    let message: Message

    init(_ message: Message) { (time, self.message) = (ProcessInfo.processInfo.systemUptime, message) }
}

/// The answer of the director to `begin` and `write`, over the worker's standard input.
enum Reply: Hashable, Codable {
    /// The steps that are written; the token is now the highest.
    case written([Int])
    case accepted
    /// A higher token was seen before.
    case refused(highest: Int64)
}

/// One value per line, as JSON.
enum Lines {
    static func encode(_ value: some Encodable) throws -> Data { try JSONEncoder().encode(value) + Data("\n".utf8) }

    static func decode<Value: Decodable>(_ line: String, as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(line.utf8))
    }
}
