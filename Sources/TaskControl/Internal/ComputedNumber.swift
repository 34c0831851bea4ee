/// The one rule for numbers that a program computes, such as a limit from a configuration: none of them ends the process.
/// A number that is too small counts as the smallest that has a meaning, and NaN as the documented default. The first such
/// number of each parameter is reported to diagnostics. The rule is documented for users in the article *Troubleshooting*.
package enum ComputedNumber {
    /// Returns a count, or the smallest count that has a meaning.
    ///
    /// - Parameters:
    ///   - parameter: The function and its parameter as they are spelled in code, such as `AsyncSemaphore(value:)`.
    ///   - primitive: The primitive of the event that reports the number.
    @inline(__always)
    package static func count(
        _ value: Int,
        atLeast minimum: Int = 1,
        _ parameter: StaticString,
        _ primitive: TaskEvent.Primitive
    ) -> Int {
        if value >= minimum { return value }
        report("\(value)", as: "\(minimum)", parameter, primitive)
        return minimum
    }

    /// Returns a count, or the nearest one in a range.
    package static func count(
        _ value: Int,
        in range: ClosedRange<Int>,
        _ parameter: StaticString,
        _ primitive: TaskEvent.Primitive
    ) -> Int {
        if range.contains(value) { return value }
        let nearest = min(max(value, range.lowerBound), range.upperBound)
        report("\(value)", as: "\(nearest)", parameter, primitive)
        return nearest
    }

    /// Returns a number, the nearest one in a range, or the default if the number is NaN.
    package static func number(
        _ value: Double,
        in range: ClosedRange<Double>,
        default: Double,
        _ parameter: StaticString,
        _ primitive: TaskEvent.Primitive
    ) -> Double {
        if range.contains(value) { return value }
        let nearest = value.isNaN ? `default` : min(max(value, range.lowerBound), range.upperBound)
        report("\(value)", as: "\(nearest)", parameter, primitive)
        return nearest
    }

    /// Returns a duration, or the shortest one that has a meaning: by default, one that is not zero.
    package static func duration(
        _ value: Duration,
        atLeast shortest: Duration = .nanoseconds(1),
        _ parameter: StaticString,
        _ primitive: TaskEvent.Primitive
    ) -> Duration {
        if value >= shortest { return value.saturated }
        report("\(value)", as: "\(shortest)", parameter, primitive)
        return shortest
    }

    @inline(never)
    private static func report(
        _ value: String,
        as used: String,
        _ parameter: StaticString,
        _ primitive: TaskEvent.Primitive
    ) {
        guard Diagnostics.isFirstReport("\(parameter)") else { return }
        let text = "\(parameter): \(value) counts as \(used)"
        Diagnostics.report(TaskEvent(primitive, .adjusted, detail: text), advice: text)
    }
}
