/// The slots of the two neighbors of an element in its ``Chain``.
struct Links {
    var older = Chain.none
    var newer = Chain.none
}

/// An element of a ``SlotTable`` that can be in a ``Chain``, whose links it stores.
protocol Linked {
    var links: Links { get set }
}
