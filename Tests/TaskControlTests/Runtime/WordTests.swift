import Testing

@testable import TaskControl

/// The casts between a word and what a storage keeps in it.
struct WordTests {
    @Test func anOptionalWordIsAWord() {
        #expect(MemoryLayout<Word?>.size == MemoryLayout<UnsafeRawPointer>.size)
    }

    @Test(arguments: [WaitOutcome.reached, .left])
    func aWordResumesTheWaiterThatItWasMadeFrom(outcome: WaitOutcome) async {
        let received = await withUnsafeContinuation { (waiter: UnsafeContinuation<WaitOutcome, Never>) in
            Word(waiter).resume(returning: outcome)
        }
        #expect(received == outcome)
    }

    @Test func aWordResumesAWaiterWithAValueOfItsType() async {
        let value = await withUnsafeContinuation { (waiter: UnsafeContinuation<[String], Never>) in
            Word(of: waiter).resume(with: ["a", "b"])
        }
        #expect(value == ["a", "b"])
    }

    @Test func aWordResumesAWaiterWithoutAnOutcome() async {
        await withUnsafeContinuation { (waiter: UnsafeContinuation<Void, Never>) in Word(waiter).resume() }
    }

    @Test(arguments: [false, true])
    func aWordIsTheTaskThatItWasMadeFromAndItsMark(isMarked: Bool) async {
        let task = Task { "value" }
        let word = Word(task.handle, isMarked: isMarked)
        #expect(word.isMarked == isMarked)
        #expect(word.task == task.handle)
        #expect(await task.value == "value")
    }

    @Test func theHandleThatAWordReturnsRetainsTheTask() async {
        let (handle, address) = await Task.detached {
            let task = Task.detached { [1, 2, 3] }
            return (withExtendedLifetime(task) { Word(task.handle).task }, task.address)
        }.value
        #expect(handle.address == address)
        #expect(await handle.task(of: [Int].self).value == [1, 2, 3])
    }

    /// A million tasks of a registry are a million entries of four words.
    @Test func anEntryOfARegistryHasFourWords() {
        #expect(MemoryLayout<TaskRegistryStateMachine.Entry?>.stride == 32)
    }

    /// A lane that contained a reference would be copied to be read.
    @Test func aLaneHasFourWordsAndNoReference() {
        #expect(MemoryLayout<TaskRegistryStateMachine.Lane>.stride == 32 && _isPOD(TaskRegistryStateMachine.Lane.self))
    }
}
