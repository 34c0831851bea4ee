import ArgumentParser

extension Duration {
    private static let units: [(name: String, factor: Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]

    /// Parses a duration as people type it: `250ms`, `30s`, `2m`, `1h`; a number alone is seconds.
    init(argument: String) throws {
        let number = argument.prefix { $0.isNumber || $0 == "." }
        let unit = argument.dropFirst(number.count).lowercased()
        guard let value = Double(number),
            let factor = unit.isEmpty ? 1 : Self.units.first(where: { $0.name == unit })?.factor,
            value * factor <= 366 * 86_400
        else {
            throw ValidationError("'\(argument)' is not a duration. Write it as 250ms, 30s, 2m or 1h.")
        }
        self = .seconds(value * factor)
    }

    /// The same way back, in the largest unit that has no fraction.
    var text: String {
        let milliseconds = Int((self / .milliseconds(1)).rounded())
        let unit = Self.units.last { milliseconds > 0 && milliseconds % Int($0.factor * 1000) == 0 }
        guard let unit else { return "\(milliseconds)ms" }
        return "\(milliseconds / Int(unit.factor * 1000))\(unit.name)"
    }
}
