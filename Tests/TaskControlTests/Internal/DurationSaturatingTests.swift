import TaskControlTesting
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct DurationSaturatingTests {
    private static let absurd: [Duration] = [
        .longestWait, .longestWait + .nanoseconds(1), .seconds(Int64.max), .seconds(Int64.max) + .seconds(Int64.max),
        Duration(secondsComponent: .max, attosecondsComponent: .max) * 8,
    ]

    @Test func whatIsUsualStaysAsItIs() {
        for duration in [Duration.zero, .nanoseconds(1), .seconds(1), .seconds(86_400), .longestWait] {
            #expect(duration.saturated == duration)
            #expect(duration.saturatingMultiplied(by: 1) == duration)
            #expect(duration.saturatingAdding(.zero) == duration)
        }
    }

    @Test(arguments: absurd)
    func whatIsAbsurdIsACentury(duration: Duration) {
        #expect(duration.saturated == .longestWait)
        #expect(duration.saturatingAdding(duration) == .longestWait)
        for factor in [1, 2, 1e300, .infinity] {
            #expect(duration.saturatingMultiplied(by: factor) == .longestWait)
        }
        #expect(duration.saturatingMultiplied(by: 0) == .zero)
    }

    @Test func productsOfUsualNumbersAreExact() {
        for base in [Duration.nanoseconds(1), .microseconds(7), .milliseconds(50), .milliseconds(500), .seconds(3)] {
            for power in 0..<20 {
                #expect(base.saturatingMultiplied(by: Double(1 << power)) == base * (1 << power))
            }
            #expect(base.saturatingMultiplied(by: 1.5) == base + base / 2)
        }
    }

    @Test func productsGrowWithTheirFactorUpToACentury() {
        for base in [
            Duration(secondsComponent: 0, attosecondsComponent: 1), .nanoseconds(1), .seconds(1), .seconds(86_400),
        ] {
            var last = base
            for power in 1..<400 {
                var factor = 1.0
                for _ in 0..<power { factor *= 2 }
                let product = base.saturatingMultiplied(by: factor)
                #expect(product > last || product == .longestWait)
                last = product
            }
            #expect(last == .longestWait)
            #expect(base.saturatingMultiplied(by: .infinity) == .longestWait)
        }
    }

    @Test func nothingTimesAnythingIsNothing() {
        #expect(Duration.zero.saturatingMultiplied(by: .infinity) == .zero)
        #expect(Duration.seconds(1).saturatingMultiplied(by: 0) == .zero)
    }

    /// Around the century, where rounding could tip over.
    @Test func noProductIsLongerThanACentury() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<100_000 {
            let factor = Double.random(in: 1...1_000_000, using: &random)
            let base = (Duration.longestWait / factor) * Double.random(in: 0.999_999...1.000_001, using: &random)
            #expect(base.saturatingMultiplied(by: factor) <= .longestWait)
        }
    }

    /// That it has begun to sleep cannot be seen: where the cancellation comes first, this shows less.
    @Test func clocksTakeTheLongestWait() async throws {
        for clock in [ContinuousClock(), SuspendingClock()] as [any Clock<Duration>] {
            let begun = Gate()
            let task = Task {
                begun.open()
                try await clock.sleep(for: .longestWait)
            }
            try await begun.wait()
            for _ in 0..<100 { await Task.yield() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func wholeNanosecondsAreNeverInTheOppositeOrder() {
        let attosecond = Duration(secondsComponent: 0, attosecondsComponent: 1)
        let durations: [Duration] = [
            .seconds(Int64.min), .seconds(-9_223_372_037), .nanoseconds(-1), .zero - attosecond, .zero, attosecond,
            .nanoseconds(1) - attosecond,
            .nanoseconds(1), .seconds(5) + .nanoseconds(7), .longestWait,
            .seconds(9_223_372_036) + .nanoseconds(900_000_000), .seconds(Int64.max), Self.absurd.last!,
        ]
        let numbers = durations.map(\.wholeNanoseconds)
        #expect(numbers == numbers.sorted())
        #expect(numbers == [.min, .min, -1, 0, 0, 0, 0, 1, 5_000_000_007, 3_155_760_000_000_000_000, .max, .max, .max])
    }
}
