internal import Foundation

/// The result of an operation of a ``FleetFlight`` as other processes read it from the store: a value, or the text of an error.
enum PublishedResult<Value: Codable>: Codable {
    case value(Value)
    case failure(String)

    private enum CodingKeys: String, CodingKey {
        case value, failure
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let failure = try container.decodeIfPresent(String.self, forKey: .failure) {
            self = .failure(failure)
        } else {
            self = .value(try container.decode(Value.self, forKey: .value))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .value(let value): try container.encode(value, forKey: .value)
        case .failure(let failure): try container.encode(failure, forKey: .failure)
        }
    }
}
