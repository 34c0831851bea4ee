// Code that the gate must find in a module other than the core, beside code that it must not find. A line `finds` is a finding: its kind, and a part of
// its text. There must be no other.

// All of it is imported weakly, like a declaration that is newer than the oldest system.
@_weakLinked import PlantedCore

// MARK: strong imports

// finds strong import: swift_task_getJobTaskId
@_silgen_name("swift_task_getJobTaskId")
func taskID(_ job: UnsafeRawPointer) -> UInt64

public func importsByHand(_ job: UnsafeRawPointer) -> UInt64 { taskID(job) }

// finds strong import: basePriority.getter
@_silgen_name("$sScTss5NeverORszABRs_rlE12basePriorityScPSgvgZ")
func basePriority() -> UInt8

public func importsAFunctionOfSwiftByHand() -> UInt8 { basePriority() }

#if compiler(<6.4)
// The compiler itself emits these, and knows a wrong version of them.
// finds strong import before 6.4: swift_task_addPriorityEscalationHandler
// finds strong import before 6.4: swift_task_removePriorityEscalationHandler
public func escalates() async {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
        await withTaskPriorityEscalationHandler {
        } onPriorityEscalated: { _, _ in
        }
    }
}
#endif

/// The standard library inlines `swift_willThrowTypedImpl` here, and tests the version itself.
public func throwsTyped<Failure: Error>(_ error: Failure) throws(Failure) { throw error }

/// A runtime function whose declaration has a version, in a body of the standard library.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public func runs(_ job: UnownedJob, on executor: UnownedTaskExecutor) { job.runSynchronously(on: executor) }

// MARK: calls of weak functions

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
public func isAvailable() -> String? { Task.name }

// finds untested call: PlantedCore.isThere() -> Swift.Bool in Planted.untested
public func untested() -> Bool { isThere() }

// finds untested call: PlantedCore.isThere() -> Swift.Bool in Planted.behindTheTest
public func behindTheTest() -> Bool {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { print("it is there") }
    return isThere()
}

// finds untested call: PlantedCore.isThere() -> Swift.Bool in Planted.onTheWrongSide
public func onTheWrongSide() -> Bool {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { return false }
    return isThere()
}

public func tests() -> Bool {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { return isThere() }
    return false
}

@inline(never)
private func isCalledWhereItIsTested() -> Bool { isThere() }

public func testsForCallee() -> Bool {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return false }
    return isCalledWhereItIsTested()
}

public func testsForClosure() async -> Bool {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return false }
    return await Task { isThere() }.value
}

// MARK: payloads of task-local values

struct Pair: Sendable {
    var owner: Owner
    var count: Int
}

final class Owner: Sendable {}

public enum Locals {
    // finds wide payload: Planted.Pair:
    @TaskLocal static var pair = Pair(owner: Owner(), count: 0)
    // finds wide payload: Planted.Pair?:
    @TaskLocal static var optional: Pair?
    // finds wide payload: Swift.String
    @TaskLocal static var name = ""
    // finds wide payload: Swift.Sendable
    @TaskLocal static var existential: any Sendable = 0
    @TaskLocal static var reference = Owner()
    @TaskLocal static var optionalReference: Owner?
    @TaskLocal static var word = 0
    @TaskLocal static var list: [Owner] = []

    public static func bind() {
        $pair.withValue(Pair(owner: Owner(), count: 1)) {}
        $optional.withValue(nil) {}
        $name.withValue("a") {}
        $existential.withValue(1) {}
        $reference.withValue(Owner()) {}
        $optionalReference.withValue(Owner()) {}
        $word.withValue(1) {}
        $list.withValue([]) {}
    }
}

// MARK: sleeps

// finds sleep: sleepsAsATask
public func sleepsAsATask() async throws { try await Task.sleep(for: .seconds(1)) }

// finds sleep: sleepsInNanoseconds
public func sleepsInNanoseconds() async throws { try await Task.sleep(nanoseconds: 1) }

// finds sleep: sleepsOnAClock
public func sleepsOnAClock() async throws { try await ContinuousClock().sleep(until: .now) }

// finds sleep: sleepsOnAnyClock
public func sleepsOnAnyClock<C: Clock>(_ clock: C) async throws { try await clock.sleep(until: clock.now, tolerance: nil) }

struct OwnClock {
    func sleep(until end: Int) async throws {}
}

public func sleepsOnAClockOfItsOwn() async throws { try await OwnClock().sleep(until: 1) }
