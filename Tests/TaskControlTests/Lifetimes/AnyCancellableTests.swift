import TaskControl
import TaskControlTesting
import Testing

#if canImport(Combine)
import Combine
#endif

@Suite(.timeLimit(.minutes(15)))
struct AnyCancellableTests {
    @Test func cancelsOnceHoweverOftenItIsTold() {
        let log = OrderRecorder<Int>()
        do {
            let cancellable = AnyCancellable { log.record(1) }
            cancellable.cancel()
            cancellable.cancel()
        }
        #expect(log.events == [1])
    }

    @Test func cancelsWhenItIsLetGoOf() {
        let log = OrderRecorder<Int>()
        _ = AnyCancellable { log.record(1) }
        #expect(log.events == [1])
    }

    @Test func isEqualToItselfOnly() {
        let (one, other) = (AnyCancellable {}, AnyCancellable {})
        #expect(one == one && one != other)
        #expect(Set([one, one, other]).count == 2)
    }

    @Test func isKeptAliveByTheSetOrCollectionItIsStoredIn() {
        let log = OrderRecorder<Int>()
        var (set, array) = (Set<AnyCancellable>(), [AnyCancellable]())
        AnyCancellable { log.record(1) }.store(in: &set)
        AnyCancellable { log.record(2) }.store(in: &array)
        #expect(log.events == [] && set.count == 1 && array.count == 1)
        set.cancelAll()
        array = []
        #expect(log.events == [1, 2] && set.isEmpty)
    }
}
