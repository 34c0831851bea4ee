import Testing

@testable import TaskControl

/// Keys are found as in a dictionary of their type, whether they are kept as bytes or in an object.
@Suite(.timeLimit(.minutes(15)))
struct ErasedKeyTests {
    private enum Field { case search, feed }

    /// Has padding, whose bytes do not matter.
    private struct Padded: Hashable {
        let first: Int8
        let second: Int32
    }

    /// Is equal to all that have the same remainder.
    private struct Alike: Hashable {
        let number: Int
        static func == (one: Alike, other: Alike) -> Bool { one.number % 3 == other.number % 3 }
        func hash(into hasher: inout Hasher) {}
    }

    private struct Nothing: Hashable {}

    private struct Large: Hashable { let (first, second): (Int, Int) }

    private final class Object: Hashable, Sendable {
        let number: Int
        init(_ number: Int) { self.number = number }
        static func == (one: Object, other: Object) -> Bool { one.number == other.number }
        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    private func check<Key: Hashable>(_ keys: [Key], areBytes: Bool) {
        for (number, key) in keys.enumerated() {
            let erased = _ErasedKey(key)
            #expect((erased.box == nil) == areBytes)
            #expect(erased.unwrapped(as: Key.self) == key)
            #expect(erased.withText().text == String(describing: key) && erased.withText() == erased)
            #expect(erased.hashValue == _ErasedKey(key).hashValue && Set([erased]).contains(_ErasedKey(key)))
            for (otherNumber, other) in keys.enumerated() {
                #expect((erased == _ErasedKey(other)) == (key == other), "\(number), \(otherNumber)")
            }
        }
    }

    @Test func keysOfEveryKindAreFound() {
        check([1, -1, 0, .max, .min] as [Int], areBytes: true)
        check([1, 255] as [UInt8], areBytes: true)
        check([true, false], areBytes: true)
        check([Field.search, .feed], areBytes: true)
        check([Nothing()], areBytes: true)
        check([0.0, -0.0, 1, .infinity], areBytes: true)
        check((0..<7).map { Alike(number: $0) }, areBytes: true)
        check((0..<9).map { Padded(first: Int8($0 % 3), second: Int32($0 / 3)) }, areBytes: true)
        check((0..<4).map { Large(first: $0 % 2, second: $0 / 2) }, areBytes: false)
        check([1, nil] as [Int?], areBytes: false)
        check(["", "a", "a rather long name of a key"], areBytes: false)
        check([Object(1), Object(1), Object(2)], areBytes: false)
    }

    /// Without an observer no text is made. A later event shows what needs no code of the type.
    @Test func aKeyWithoutATextShowsWhatNeedsNoCodeOfTheClient() {
        enum Route: Hashable, CustomStringConvertible {
            case search(String), feed
            var description: String { "a description" }
        }
        #expect(_ErasedKey("token").text == "token")
        #expect(_ErasedKey(7).text == "7")
        #expect(_ErasedKey(Field.feed).text == "feed")
        #expect(_ErasedKey(Route.feed).text == "feed")
        #expect(_ErasedKey(Route.search("x")).text == "search")
        #expect(_ErasedKey(Large(first: 1, second: 2)).text == "Large")
        #expect(_ErasedKey(Object(1)).text == "Object")
        #expect(_ErasedKey(_SharedKey<Route, Int>(.feed)).text == "feed")
        #expect(_ErasedKey(_SharedKey<Int, Int>(7)).text == "7")
        #expect(_ErasedKey(7 as UInt32).text == "7")
        #expect(_ErasedKey(Route.feed).withText().text == "a description")
        #expect(_ErasedKey(OnlyKey()).withText().text == nil)
    }

    /// A key that is not even equal to itself is found by a copy of it, as the keys that an owner lists are.
    @Test func aKeyIsEqualToItsCopy() {
        let key = _ErasedKey(Double.nan)
        let copy = key
        #expect(key == copy)
    }

    @Test func keysOfTwoTypesAreNeverEqual() {
        #expect(_ErasedKey(1 as Int) != _ErasedKey(1 as UInt))
        #expect(_ErasedKey(Alike(number: 1)) != _ErasedKey(Nothing()))
        #expect(_ErasedKey("1") != _ErasedKey(Optional("1")))
        #expect(_ErasedKey(0 as UInt8) != _ErasedKey(false))
    }
}
