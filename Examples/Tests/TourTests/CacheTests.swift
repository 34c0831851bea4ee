import TaskControlTesting
import Testing

@testable import tour

/// The claims of the chapter, with other numbers of readers, and the facts on which they rest.
@Suite(.timeLimit(.minutes(15)))
@MainActor
struct CacheTests {
    @Test(arguments: [1, 2, 1_000])
    func withTheNaiveCacheEveryReaderSendsARequest(_ readers: Int) async throws {
        let measured = try await CacheChapter.measure(readers: readers) { NaiveCache(origin: $0, clock: $1) }
        #expect(measured.requests == readers)
        #expect(measured.served == 0)
        #expect(measured.editions == [2: readers])
        #expect(measured.requestsOfLater == 0)
    }

    @Test(arguments: [1, 2, 1_000])
    func oneRequestServesAllReaders(_ readers: Int) async throws {
        for _ in 0..<20 {
            let measured = try await CacheChapter.measure(readers: readers) { SharedCache(origin: $0, clock: $1) }
            #expect(measured.requests == 1)
            #expect(measured.served == 0)
            #expect(measured.editions == [2: readers])
            #expect(measured.requestsOfLater == 0)
        }
    }

    @Test(arguments: [1, 2, 1_000])
    func noReaderOfAStaleValueWaits(_ readers: Int) async throws {
        for _ in 0..<20 {
            let measured = try await CacheChapter.measure(readers: readers) {
                SharedCache(origin: $0, clock: $1, staleWhileRevalidate: .seconds(300))
            }
            #expect(measured.requests == 1)
            #expect(measured.served == readers)
            #expect(measured.editions == [1: readers])
            #expect(measured.later == 2)
            #expect(measured.requestsOfLater == 0)
        }
    }

    @Test func aValueServesUntilItExpiresAndNoLonger() async throws {
        let makers: [MakeCache] = [
            { NaiveCache(origin: $0, clock: $1) }, { SharedCache(origin: $0, clock: $1) },
        ]
        for make in makers {
            let (origin, clock) = (Origin(), TestClock())
            let cache = make(origin, clock)
            origin.open(1)
            #expect(try await cache.read() == 1)
            origin.publish()
            origin.open(2)
            await clock.advance(by: CacheChapter.timeToLive - .milliseconds(1))
            #expect(try await cache.read() == 1)
            #expect(origin.requests.value == 1)
            await clock.advance(by: .milliseconds(1))
            #expect(try await cache.read() == 2)
            #expect(origin.requests.value == 2)
        }
    }
}
