import TaskControlTesting
import XCTest

/// Has the symbol of XCTest's own function: since this library is loaded before XCTest, the test executable calls this one. Wraps the function of an asynchronous test, for the list of tests that SwiftPM generates.
@_silgen_name("$s6XCTest9asyncTestyyyKcxcyyYaKcxcAA0A4CaseCRbzlF")
public func simulatedAsyncTest<T: XCTestCase>(
    _ function: @escaping (T) -> () async throws -> Void
) -> (T) -> () throws -> Void {
    { testCase in { Hosting.run(testCase, function) } }
}

extension XCTestCase {
    /// The original waits on a thread of its own, which is not part of the simulation.
    @_silgen_name("$s6XCTest0A4CaseC11fulfillment2of7timeout12enforceOrder4file4lineySayAA0A11ExpectationCG_SdSbs12StaticStringVSitYaF")
    nonisolated(nonsending) public func simulatedFulfillment(
        of expectations: [XCTestExpectation],
        timeout: Double,
        enforceOrder: Bool,
        file: StaticString,
        line: Int
    ) async {
        let result = await Hosting.fulfillment(of: expectations, timeout)
        if result == .timedOut {
            let names = expectations.map(\.expectationDescription).joined(separator: ", ")
            XCTFail("not fulfilled after \(timeout) seconds: \(names)", file: file, line: UInt(line))
        }
        if result == .invertedFulfillment { XCTFail("an inverted expectation was fulfilled", file: file, line: UInt(line)) }
    }
}

extension XCTWaiter {
    @_silgen_name("upstream_fulfillment_of_waiter")
    nonisolated(nonsending) public func simulatedFulfillment(
        of expectations: [XCTestExpectation],
        timeout: Double,
        enforceOrder: Bool,
        file: StaticString,
        line: Int
    ) async -> XCTWaiter.Result {
        await Hosting.fulfillment(of: expectations, timeout)
    }

    @_silgen_name("upstream_fulfillment_of_waiters")
    nonisolated(nonsending) public static func simulatedFulfillment(
        of expectations: [XCTestExpectation],
        timeout: Double,
        enforceOrder: Bool,
        file: StaticString,
        line: Int
    ) async -> XCTWaiter.Result {
        await Hosting.fulfillment(of: expectations, timeout)
    }
}

private enum Hosting {
    /// Each schedule has an instance of its own, which is set up and torn down within the schedule. Blocks that the test passes to `addTeardownBlock`
    /// are not called, as XCTest gives no access to them.
    static func run<T: XCTestCase>(_ testCase: T, _ function: @escaping (T) -> () async throws -> Void) {
        _ = observes
        nonisolated(unsafe) let (testCase, function) = (testCase, function)
        SimulatedTest.run(testCase.name, isSkip: { $0 is XCTSkip }) { _ in
            nonisolated(unsafe) let instance = type(of: testCase).init(name: testCase.name) { _ in }
            try await instance.setUp()
            try enter(instance)
            try await function(instance)()
            try leave(instance)
            try await instance.tearDown()
        }
    }

    private static func enter(_ testCase: XCTestCase) throws {
        try testCase.setUpWithError()
        testCase.setUp()
    }

    private static func leave(_ testCase: XCTestCase) throws {
        testCase.tearDown()
        try testCase.tearDownWithError()
    }

    /// XCTest's wait for several expectations, with sleeps instead of a blocked thread. The order is not checked.
    nonisolated(nonsending) static func fulfillment(of expectations: [XCTestExpectation], _ timeout: Double) async -> XCTWaiter.Result {
        let wanted = expectations.filter { !$0.isInverted }
        let unwanted = expectations.filter(\.isInverted)
        let end = ContinuousClock.now + .seconds(min(timeout, 1e6))
        while ContinuousClock.now < end {
            if unwanted.contains(where: \.isFulfilledNow) { return .invertedFulfillment }
            if unwanted.isEmpty, wanted.allSatisfy(\.isFulfilledNow) { return .completed }
            do { try await Task.sleep(for: .milliseconds(1)) } catch { return .interrupted }
        }
        return wanted.allSatisfy(\.isFulfilledNow) ? .completed : .timedOut
    }

    /// A failed assertion ends its schedule.
    private static let observes: Void = XCTestObservationCenter.shared.addTestObserver(Observer())

    private final class Observer: NSObject, XCTestObservation {
        func testBundleWillStart(_ testBundle: Bundle) {}
        func testBundleDidFinish(_ testBundle: Bundle) {}
        func testSuiteWillStart(_ testSuite: XCTestSuite) {}
        func testSuiteDidFinish(_ testSuite: XCTestSuite) {}
        func testCaseWillStart(_ testCase: XCTestCase) {}
        func testCaseDidFinish(_ testCase: XCTestCase) {}
        func testCase(_: XCTestCase, didFailWithDescription text: String, inFile path: String?, atLine line: Int) {
            let place = path ?? ""
            Simulation.current?.expect(false, text, fileID: place, filePath: place, line: line)
        }
    }
}

extension XCTestExpectation {
    /// XCTest has no function that tells it.
    fileprivate var isFulfilledNow: Bool {
        Mirror(reflecting: self).children.contains { $0.label == "isFulfilled" && $0.value as? Bool == true }
    }
}
