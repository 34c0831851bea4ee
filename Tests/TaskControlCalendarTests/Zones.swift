import Foundation

/// Time zones with different rules: an hour, half an hour and two hours; at midnight, in the night, and twice a year or in Ramadan; and none.
enum Zones {
    static let all = [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Casablanca",
        "Asia/Tehran", "America/Havana", "Africa/Cairo", "Antarctica/Troll", "Asia/Kolkata",
    ]

    static func zone(_ name: String) -> TimeZone { TimeZone(identifier: name)! }

    /// Returns the date of a text such as "2026-03-29T01:00:00Z".
    static func date(_ text: String) -> Date { try! Date(text, strategy: .iso8601) }
}
