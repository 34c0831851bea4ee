import Testing

@testable import TaskControl

/// A reference that does not keep its object alive.
struct KeptReferenceTests {
    private final class Object: Sendable {}

    private struct Refusal: Error {}

    @Test func itIsTheObject() throws {
        let object = Object()
        let reference = KeptReference(object)
        #expect(reference.with { $0 === object })
        // A reference that the function keeps is a usual one.
        let kept = reference.with { $0 }
        #expect(kept === object)
        #expect(throws: Refusal.self) { try reference.with { _ in throw Refusal() } }
    }

    @Test func itDoesNotKeepTheObjectAlive() {
        weak var object: Object?
        let reference: KeptReference<Object>
        do {
            let kept = Object()
            reference = KeptReference(kept)
            object = reference.with { $0 }
            withExtendedLifetime(kept) { #expect(object != nil) }
        }
        #expect(object == nil)
        withExtendedLifetime(reference) {}
    }
}
