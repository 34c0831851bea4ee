import Foundation

/// A scale, which places values between 0 and 1.
struct Scale: Sendable {
    private let domain: ClosedRange<Double>
    private let isLogarithmic: Bool

    /// Returns a scale from zero to the largest value, or to 1 if that is larger.
    static func linear(upTo largest: Double) -> Scale {
        Scale(domain: 0...max(largest, 1), isLogarithmic: false)
    }

    /// Returns a scale from a power of ten to the largest value.
    static func logarithmic(from smallest: Double, upTo largest: Double) -> Scale {
        let low = pow(10, floor(log10(max(smallest, 0.1))))
        return Scale(domain: low...max(largest, low * 10), isLogarithmic: true)
    }

    func position(of value: Double) -> Double {
        let value = min(max(value, domain.lowerBound), domain.upperBound)
        guard isLogarithmic else { return (value - domain.lowerBound) / (domain.upperBound - domain.lowerBound) }
        return log(value / domain.lowerBound) / log(domain.upperBound / domain.lowerBound)
    }

    /// The round values at which the scale is labelled: 1 and 3 times each power of ten, or about four steps of equal size.
    var ticks: [Double] {
        if isLogarithmic {
            let powers = Int(log10(domain.lowerBound).rounded())...Int(log10(domain.upperBound))
            return powers.flatMap { [pow(10, Double($0)), 3 * pow(10, Double($0))] }.filter(domain.contains)
        }
        let rough = domain.upperBound / 4
        let power = pow(10, floor(log10(rough)))
        let step = [1, 2, 2.5, 5, 10].map { $0 * power }.first { $0 >= rough * 0.8 } ?? rough
        return Array(stride(from: 0, through: domain.upperBound, by: step))
    }
}
