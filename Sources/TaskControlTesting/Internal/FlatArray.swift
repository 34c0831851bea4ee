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

    @_transparent init(repeating element: Element, count: Int) {
        self.init()
        reserve(count)
        while self.count < count {
            self.count += 1
            self[self.count - 1] = element
        }
    }

    deinit {
        // Not as memory of elements, here and below: the code for these is generic.
        if let memory { UnsafeMutableRawPointer(memory).deallocate() }
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
        if count == capacity { reserve(capacity < 8 ? 8 : 2 * capacity) }
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

    private mutating func reserve(_ capacity: Int) {
        let larger = UnsafeMutableRawPointer.allocate(
            byteCount: capacity * MemoryLayout<Element>.stride,
            alignment: MemoryLayout<Element>.alignment
        )
        if let memory {
            larger.copyMemory(from: memory, byteCount: count * MemoryLayout<Element>.stride)
            UnsafeMutableRawPointer(memory).deallocate()
        }
        memory = larger.assumingMemoryBound(to: Element.self)
        self.capacity = capacity
    }
}
