/// An array of trivial elements, which is nearly as fast in a debug build as in an optimized one.
///
/// A simulation uses its arrays several times per step, and most tests are debug builds. There, every access to an `Array` is a call of generic
/// code that looks up metadata and copies the element through its value witnesses. Here, the code is concrete wherever the array is used, and since
/// the type cannot be copied, nothing is retained, and no uniqueness is checked.
///
/// The accessors are `@_transparent`, not `@inline(always)`: the compiler inlines both in debug builds, but it keeps each parameter and variable of
/// a function of the second kind for the debugger, and clears the memory of each first, which is most of the time of an access.
struct FlatArray<Element: BitwiseCopyable>: ~Copyable {
    private var capacity = 0
    private(set) var count = 0
    /// `nil` while the capacity is zero.
    private var memory: UnsafeMutablePointer<Element>?

    init() {}

    /// Creates an array of elements whose bytes are all zero. Memory that is not used afterwards is never touched.
    init(zeros count: Int) {
        capacity = count
        self.count = count
        memory = System.zeros(count * MemoryLayout<Element>.stride).assumingMemoryBound(to: Element.self)
    }

    deinit {
        if let memory { System.deallocate(memory) }
    }

    var isEmpty: Bool { @_transparent get { count == 0 } }

    /// An element, by its address: no other accessor reads or changes a part of an element without a copy of the whole.
    subscript(index: Int) -> Element {
        @_transparent unsafeAddress { UnsafePointer(address(of: index)) }
        @_transparent unsafeMutableAddress { address(of: index) }
    }

    /// The address of an element. Valid until the array changes.
    @_transparent func address(of index: Int) -> UnsafeMutablePointer<Element> {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "the index is out of range")
        return memory! + index
    }

    @_transparent mutating func append(_ element: Element) {
        if count == capacity { grow() }
        count += 1
        self[count - 1] = element
    }

    @_transparent mutating func removeLast() -> Element {
        let element = self[count - 1]
        count -= 1
        return element
    }

    /// - Complexity: O(*n*) in the number of later elements.
    @_transparent mutating func remove(at index: Int) -> Element {
        let element = self[index]
        move(from: index + 1, to: index)
        count -= 1
        return element
    }

    /// - Complexity: O(*n*) in the number of later elements.
    @_transparent mutating func insert(_ element: Element, at index: Int) {
        append(element)
        move(from: index, to: index + 1)
        self[index] = element
    }

    /// Removes the first elements.
    mutating func removeFirst(_ removed: Int) {
        move(from: removed, to: 0)
        count -= removed
    }

    @_transparent mutating func swapAt(_ one: Int, _ other: Int) {
        let element = self[one]
        self[one] = self[other]
        self[other] = element
    }

    // MARK: Memory

    /// Moves the elements from an index on, except those that would lie beyond the end.
    @_transparent private func move(from: Int, to: Int) {
        let last = from > to ? from : to
        guard let memory, last < count else { return }
        let bytes = (count - last) * MemoryLayout<Element>.stride
        UnsafeMutableRawPointer(memory + to).copyMemory(from: memory + from, byteCount: bytes)
    }

    /// Adds half of the capacity: with twice the capacity, a third of the memory of all arrays would be unused.
    private mutating func grow() {
        capacity = capacity < 8 ? 8 : capacity + capacity / 2
        // Not as memory of elements: the code for it is generic. And not allocated, copied and deallocated, since a large block can grow in place.
        let larger = System.resize(memory, to: capacity * MemoryLayout<Element>.stride)
        memory = larger.assumingMemoryBound(to: Element.self)
    }
}
