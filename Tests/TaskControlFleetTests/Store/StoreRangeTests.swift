import TaskControlFleet
import Testing

@Suite struct StoreRangeTests {
    @Test func aPrefixContainsTheKeysThatBeginWithIt() {
        #expect(StoreRange.prefix("lease/a/").contains("lease/a/1"))
        #expect(!StoreRange.prefix("lease/a/").contains("lease/a"))
        #expect(StoreRange.prefix("").contains("any key"))
    }

    @Test func oneKeyContainsNoOther() {
        #expect(StoreRange.key("a").contains("a"))
        #expect(!StoreRange.key("a").contains("ab"))
    }

    @Test func keysAreComparedAsUTF8() {
        // One scalar, and the same character of two scalars.
        #expect(!StoreRange.prefix("\u{E9}").contains("e\u{301}"))
    }
}
