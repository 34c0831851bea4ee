import Foundation
import TaskControl
import Testing

/// A cause as a value: it can be compared, described, and sent to a program of another version.
@Suite struct CancellationCauseCodingTests {
    private static let causes: [CancellationCause] = [
        .superseded(key: "draft"), .superseded(key: nil), .ownerDeallocated(name: nil), .ownerDeallocated(name: "feed"),
        .shutdown(name: "feed"), .deadline, .lastCallerLeft, .requested(reason: nil), .requested(reason: "signed out"),
        .leaseLost(name: "job"), .unknown,
    ]

    @Test func eachCauseIsAValueOfItsOwnThatCanBeSentElsewhere() throws {
        #expect(Set(Self.causes).count == Self.causes.count)
        #expect(Set(Self.causes.map(\.kind)) == Set(CancellationCause.Kind.allCases))
        #expect(Set(Self.causes.map(\.description)).count == Self.causes.count)
        let data = try JSONEncoder().encode(Self.causes)
        #expect(try JSONDecoder().decode([CancellationCause].self, from: data) == Self.causes)
    }

    @Test func aCauseHasItsText() {
        #expect(CancellationCause.requested(reason: "signed out").detail == "signed out")
        #expect(CancellationCause.superseded(key: "draft").description == "superseded: draft")
        #expect(CancellationCause.deadline.detail == nil && CancellationCause.deadline.kind == .deadline)
    }

    @Test func aKindOfALaterVersionIsUnknown() throws {
        let later = Data(#"[{"kind":"moon","detail":"full"},{"kind":"deadline","limit":3}]"#.utf8)
        #expect(try JSONDecoder().decode([CancellationCause].self, from: later) == [.unknown, .deadline])
    }
}
