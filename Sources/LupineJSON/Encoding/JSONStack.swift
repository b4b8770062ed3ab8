// JSONStack: a stack of plain values, without the checks of an array.

/// Its owner frees it.
struct JSONStack<Element: BitwiseCopyable> {
  // SAFETY: all accesses are below `count`, which is at most `capacity`.
  private var start: UnsafeMutablePointer<Element>
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
    start = .allocate(capacity: capacity)
  }

  func free() { start.deallocate() }

  /// The index must be below `count`.
  @inline(__always)
  subscript(index: Int) -> Element { start[index] }

  /// The last element. There must be one. The pointer is valid until the next `push`.
  @inline(__always)
  var top: UnsafeMutablePointer<Element> { start + (count &- 1) }

  @inline(__always)
  func pointer(at index: Int) -> UnsafeMutablePointer<Element> { start + index }

  @inline(__always)
  mutating func push(_ element: Element) {
    if count == capacity { grow() }
    start[count] = element
    count &+= 1
  }

  /// Removes all elements from the index on, which is at most `count`.
  @inline(__always)
  mutating func removeAll(from index: Int) { count = index }

  @inline(never)
  private mutating func grow() {
    // SAFETY: the new memory has room for the initialized elements of the old memory, which nothing uses afterwards.
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
    larger.update(from: start, count: count)
    start.deallocate()
    start = larger
    capacity *= 2
  }
}
