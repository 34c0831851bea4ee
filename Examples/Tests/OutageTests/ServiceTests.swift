import TaskControlTesting
import Testing

@testable import outage

@Suite(.timeLimit(.minutes(15)))
struct ServiceTests {
    private let capacity = 50.0
    private let outage = Duration.seconds(10)..<Duration.seconds(20)

    @Test(arguments: [0.5, 0.9, 1.0, 1.5, 3, 6, 20])
    func itsCapacityIsNeverExceeded(load: Double) {
        for seed in UInt64(0)..<3 {
            let answers = play(load: load, seed: seed).compactMap(\.answer)
            // In whatever second one looks.
            var first = 0
            for (index, answer) in answers.enumerated() {
                while answer - answers[first] >= .seconds(1) { first += 1 }
                #expect(index - first + 1 <= Int(capacity) + 1, "seed \(seed)")
            }
        }
    }

    @Test func itAnswersNobodyWhileItFails() {
        for visit in play(load: 0.5, seed: 1) where outage.contains(visit.time) { #expect(visit.answer == nil) }
    }

    @Test func itAnswersEverybodyWhoComesInGoodTime() {
        var service = Service(capacity: capacity, outage: outage)
        for number in 0..<499 {
            let time = Duration.milliseconds(20 * number)
            #expect(service.receive(at: time) == .answer(at: time + .milliseconds(20)))
        }
    }

    @Test func whatItAnswersItAnswersSoon() {
        let longest = Service(capacity: capacity, outage: outage).longestWait + .seconds(1 / capacity)
        for visit in play(load: 6, seed: 1) {
            guard let answer = visit.answer else { continue }
            #expect(answer - visit.time <= longest)
        }
    }

    @Test func theMoreItIsOfferedBeyondItsCapacityTheLessItAnswers() {
        let answered = [0.9, 2, 3, 4, 8].map { load in
            play(load: load, seed: 1).count { $0.answer != nil && $0.time >= outage.upperBound + .seconds(5) }
        }
        #expect(answered[1...] == answered[1...].sorted(by: >)[...])
        // A refusal costs a fifth of an answer: with more than five times its capacity it does nothing else.
        #expect(answered.last == 0)
        #expect(answered[1] < Int(capacity) * 25)
    }

    private func play(load: Double, seed: UInt64) -> [(time: Duration, answer: Duration?)] {
        var service = Service(capacity: capacity, outage: outage)
        var random = SeededGenerator(seed: seed)
        let times = (0..<Int(load * capacity * 50)).map { _ in
            Duration.seconds(50) * Double.random(in: 0..<1, using: &random)
        }
        return times.sorted().map { time in
            if case .answer(let answer) = service.receive(at: time) { (time, answer) } else { (time, nil) }
        }
    }
}
