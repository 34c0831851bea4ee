import Testing

@testable import TaskControl

/// The casts of a task to other types of task, and to its address.
struct TaskHandleTests {
    @Test(arguments: [704, 1_024, 4_096])
    func addressesAtRegularDistancesAreHashedToManyBuckets(distance: UInt) {
        let hashes = (0..<1_024).map { TaskAddress(bits: 0x7f00_1234_0000 + $0 * distance).hashValue & 1_023 }
        #expect(Set(hashes).count > 256)
    }

    @Test func theAddressOfATaskIsThatOfTheRunningTask() async throws {
        let plain = Task { TaskAddress.running }
        #expect(await plain.value == plain.address)
        let throwing = Task { () throws in TaskAddress.running }
        #expect(try await throwing.value == throwing.address)
        let large = Task.detached { (TaskAddress.running, [1, 2, 3], "text") }
        #expect(await large.value.0 == large.address)
    }

    @Test func aHandleHasTheAddressOfItsTask() async throws {
        let task = Task { () throws in "value" }
        #expect(task.handle.address == task.address)
        #expect(try await task.value == "value")
    }

    @Test func tasksThatLiveTogetherHaveDifferentAddresses() async {
        let tasks = (0..<100).map { number in Task { number } }
        #expect(Set(tasks.map(\.address)).count == tasks.count)
        for task in tasks { _ = await task.value }
    }
}
