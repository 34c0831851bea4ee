internal import Foundation

extension UnixTime {
    /// Rounds down to the second. A date that is more than 100,000 years from 1970, or no number, is limited.
    init(_ date: Date) {
        let limit = 3e12
        let time = date.timeIntervalSince1970
        seconds = time.isNaN ? 0 : Int(min(max(-limit, time.rounded(.down)), limit))
    }

    var date: Date { Date(timeIntervalSince1970: Double(seconds)) }
}
