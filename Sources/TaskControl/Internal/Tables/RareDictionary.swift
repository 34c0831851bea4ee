/// A dictionary that most calls do not use.
///
/// Its code is not specialized for its types: a specialized dictionary adds 3 KB to each client, and an entry that is
/// inserted and removed once in the life of an owner does not need its speed.
struct RareDictionary<Key: Hashable, Value> {
    private(set) var entries: [Key: Value] = [:]

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    var capacity: Int {
        @inline(never) @_semantics("optimize.sil.specialize.generic.never") get { entries.capacity }
    }

    /// The keys, in no particular order.
    var keys: [Key] {
        @inline(never) @_semantics("optimize.sil.specialize.generic.never") get { Array(entries.keys) }
    }

    /// The values, in no particular order.
    var values: [Value] {
        @inline(never) @_semantics("optimize.sil.specialize.generic.never") get { Array(entries.values) }
    }

    subscript(key: Key) -> Value? {
        @inline(never) @_semantics("optimize.sil.specialize.generic.never") get { entries[key] }
        @inline(never) @_semantics("optimize.sil.specialize.generic.never") _modify { yield &entries[key] }
    }

    subscript(key: Key, default value: Value) -> Value {
        @inline(never) @_semantics("optimize.sil.specialize.generic.never") get { entries[key] ?? value }
        @inline(never) @_semantics("optimize.sil.specialize.generic.never") _modify {
            yield &entries[key, default: value]
        }
    }

    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    mutating func removeValue(forKey key: Key) -> Value? { entries.removeValue(forKey: key) }

    mutating func shrinkIfMostlyEmpty() { entries.shrinkIfMostlyEmpty() }
}

/// Returns elements in the ascending order of a number. As a ``RareDictionary``, not specialized for their type.
@inline(never)
@_semantics("optimize.sil.specialize.generic.never")
func rarelySorted<Element>(_ elements: [Element], by number: (Element) -> UInt64) -> [Element] {
    elements.sorted { number($0) < number($1) }
}
