/// The slots of the two neighbors of an element in its ``Chain``; `Chain.none` if there is no neighbor.
@usableFromInline
package struct Links {
    @usableFromInline var older = Chain.none
    @usableFromInline var newer = Chain.none

    @inlinable package init() {}

    @inlinable
    init(older: Chain.Slot) { self.older = older }
}

/// An element of a ``SlotTable`` that can be in a ``Chain``, whose links it stores.
@usableFromInline
package protocol Linked {
    var links: Links { get set }
}
