import TaskControlHTTP
import Testing

@Suite(.timeLimit(.minutes(15)))
struct TransferProgressTests {
    @Test func fractionsAreBetweenNoneAndAllAndUnknownWhereTheTotalIs() {
        var progress = TransferProgress()
        #expect((progress.fractionSent, progress.fractionReceived) == (nil, nil))
        (progress.sent, progress.expectedToSend) = (1, 4)
        (progress.received, progress.expectedToReceive) = (5, 4)
        #expect((progress.fractionSent, progress.fractionReceived) == (0.25, 1))
        // Nothing is all there is.
        (progress.sent, progress.expectedToSend) = (0, 0)
        #expect(progress.fractionSent == 1)
    }
}
