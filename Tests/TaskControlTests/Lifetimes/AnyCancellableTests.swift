import TaskControl
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AnyCancellableTests {
    @Test func cancelsOnceHoweverOftenItIsTold() {
        let log = Log<Int>()
        do {
            let cancellable = AnyCancellable { log.append(1) }
            cancellable.cancel()
            cancellable.cancel()
        }
        #expect(log.values == [1])
    }

    @Test func cancelsWhenItIsLetGoOf() {
        let log = Log<Int>()
        _ = AnyCancellable { log.append(1) }
        #expect(log.values == [1])
    }

    @Test func isEqualToItselfOnly() {
        let (one, other) = (AnyCancellable {}, AnyCancellable {})
        #expect(one == one && one != other)
        #expect(Set([one, one, other]).count == 2)
    }

    @Test func isKeptAliveByTheSetOrCollectionItIsStoredIn() {
        let log = Log<Int>()
        var (set, array) = (Set<AnyCancellable>(), [AnyCancellable]())
        AnyCancellable { log.append(1) }.store(in: &set)
        AnyCancellable { log.append(2) }.store(in: &array)
        #expect(log.values == [] && set.count == 1 && array.count == 1)
        set.cancelAll()
        array = []
        #expect(log.values == [1, 2] && set.isEmpty)
    }
}
