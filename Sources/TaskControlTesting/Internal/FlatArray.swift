/// A growable array of trivial elements (`BitwiseCopyable`), which is nearly as fast in a debug build as in an
/// optimized one.
///
/// A simulation uses its arrays several times per step, and most tests are debug builds. In a debug build, every access to an `Array` calls
/// generic code that looks up metadata and copies the element through its value witnesses. The code of this type is concrete wherever it is
/// used. Since the type cannot be copied, no access retains an object or checks for uniqueness.
///
/// The accessors are `@_transparent`, not `@inline(always)`. The compiler inlines both in debug builds. For an `@inline(always)` function,
/// however, it keeps each parameter and variable in memory for the debugger and clears this memory first, which takes most of the time of
/// an access.
struct FlatArray<Element: BitwiseCopyable>: ~Copyable {
    private var capacity = 0
    private(set) var count = 0
    /// The memory of the elements; `nil` while the capacity is zero.
    private var memory: UnsafeMutablePointer<Element>?

    init() {}

    /// Creates an array of `count` elements whose bytes are all zero. Memory that is not used afterwards is never
    /// touched.
    init(zeros count: Int) {
        capacity = count
        self.count = count
        memory = System.zeros(count * MemoryLayout<Element>.stride).assumingMemoryBound(to: Element.self)
    }

    deinit {
        if let memory { System.deallocate(memory) }
    }

    var isEmpty: Bool { @_transparent get { count == 0 } }

    /// Accesses an element in place, through its address: other kinds of accessors would copy the whole element to read
    /// or change a part of it. Traps if the index is out of range.
    subscript(index: Int) -> Element {
        @_transparent unsafeAddress { UnsafePointer(address(of: index)) }
        @_transparent unsafeMutableAddress { address(of: index) }
    }

    /// Returns the address of an element, which is valid until the array changes. Traps if the index is out of range.
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

    /// Removes the element at an index, and returns it.
    ///
    /// - Complexity: O(*n*) in the number of later elements.
    @_transparent mutating func remove(at index: Int) -> Element {
        let element = self[index]
        move(from: index + 1, to: index)
        count -= 1
        return element
    }

    /// Inserts an element at an index.
    ///
    /// - Complexity: O(*n*) in the number of later elements.
    @_transparent mutating func insert(_ element: Element, at index: Int) {
        append(element)
        move(from: index, to: index + 1)
        self[index] = element
    }

    /// Removes the first `removed` elements.
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

    /// Moves all elements at and after the index `from` as one block, so that the first of them is at the index `to`.
    /// Elements whose new index would be beyond the end are dropped.
    @_transparent private func move(from: Int, to: Int) {
        let last = from > to ? from : to
        guard let memory, last < count else { return }
        let bytes = (count - last) * MemoryLayout<Element>.stride
        UnsafeMutableRawPointer(memory + to).copyMemory(from: memory + from, byteCount: bytes)
    }

    /// Increases the capacity by one half. (If it doubled, a third of the memory of all arrays would be unused on average.)
    private mutating func grow() {
        capacity = capacity < 8 ? 8 : capacity + capacity / 2
        // Raw memory, since the code for typed memory is generic. Resized instead of allocated and copied, since a
        // large block can grow in place.
        let larger = System.resize(memory, to: capacity * MemoryLayout<Element>.stride)
        memory = larger.assumingMemoryBound(to: Element.self)
    }
}
