/// An array of trivial elements, which is nearly as fast in a debug build as in an optimized one.
///
/// A simulation uses its arrays several times per step, and most tests are debug builds. There, every access to an `Array` is a call of generic
/// code that looks up metadata and copies the element through its value witnesses. `@inline(always)` applies to debug builds, too, and
/// makes the code of this type concrete where it is used; and since the type cannot be copied, nothing is retained, and no uniqueness is checked.
struct FlatArray<Element: BitwiseCopyable>: ~Copyable {
    private var capacity = 0
    private(set) var count = 0
    /// `nil` while the capacity is zero.
    private var memory: UnsafeMutablePointer<Element>?

    init() {}

    init(repeating element: Element, count: Int) {
        reserve(count)
        while self.count < count { append(element) }
    }

    deinit { memory?.deallocate() }

    @inline(always) var isEmpty: Bool { count == 0 }

    /// An element, by its address: no other accessor reads or changes a part of an element without a copy of the whole.
    @inline(always) subscript(index: Int) -> Element {
        unsafeAddress { UnsafePointer(address(of: index)) }
        unsafeMutableAddress { address(of: index) }
    }

    /// The address of an element. Valid until the array changes.
    @inline(always) func address(of index: Int) -> UnsafeMutablePointer<Element> {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "the index is out of range")
        return memory! + index
    }

    @inline(always) mutating func append(_ element: Element) {
        if count == capacity { reserve(max(8, 2 * capacity)) }
        count += 1
        self[count - 1] = element
    }

    @inline(always) mutating func removeLast() -> Element {
        let element = self[count - 1]
        count -= 1
        return element
    }

    /// - Complexity: O(*n*) in the number of later elements.
    @inline(always) mutating func remove(at index: Int) -> Element {
        let element = self[index]
        move(from: index + 1, to: index)
        count -= 1
        return element
    }

    /// - Complexity: O(*n*) in the number of later elements.
    @inline(always) mutating func insert(_ element: Element, at index: Int) {
        append(element)
        move(from: index, to: index + 1)
        self[index] = element
    }

    /// Removes the first elements.
    mutating func removeFirst(_ removed: Int) {
        move(from: removed, to: 0)
        count -= removed
    }

    @inline(always) mutating func swapAt(_ one: Int, _ other: Int) {
        let element = self[one]
        self[one] = self[other]
        self[other] = element
    }

    // MARK: Memory

    /// Moves the elements from an index on, except those that would lie beyond the end.
    @inline(always) private func move(from: Int, to: Int) {
        guard let memory, max(from, to) < count else { return }
        let bytes = (count - max(from, to)) * MemoryLayout<Element>.stride
        UnsafeMutableRawPointer(memory + to).copyMemory(from: memory + from, byteCount: bytes)
    }

    private mutating func reserve(_ capacity: Int) {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        if let memory {
            larger.update(from: memory, count: count)
            memory.deallocate()
        }
        memory = larger
        self.capacity = capacity
    }
}
