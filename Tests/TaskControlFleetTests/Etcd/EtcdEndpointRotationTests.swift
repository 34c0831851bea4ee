import TestSupport
import Testing

@testable import TaskControlEtcd
@testable import TaskControlFleet

@Suite(.tags(.machine))
struct EtcdEndpointRotationTests {
    @Test func eachEndpointIsTriedOnce() {
        var rotation = EtcdEndpointRotation(count: 3)
        #expect(rotation.order == [0, 1, 2])
        rotation.failed(0)
        #expect(rotation.order == [1, 2, 0])
        rotation.failed(1)
        rotation.failed(2)
        #expect(rotation.order == [0, 1, 2])
    }

    @Test func concurrentFailuresOfOneEndpointMoveOnOnce() {
        var rotation = EtcdEndpointRotation(count: 3)
        rotation.failed(0)
        rotation.failed(0)
        #expect(rotation.current == 1)
    }

    @Test func withoutEndpointsThereIsNothingToTry() {
        var rotation = EtcdEndpointRotation(count: 0)
        rotation.failed(0)
        #expect(rotation.order.isEmpty)
    }
}
