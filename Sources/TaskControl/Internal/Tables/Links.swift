/// The neighbors of an element in its ``Chain``.
struct Links {
    var older = Chain.none
    var newer = Chain.none
}

/// An element of a table that a ``Chain`` can order.
protocol Linked {
    var links: Links { get set }
}
