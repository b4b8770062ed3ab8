// GuardedBytes: places bytes directly before an inaccessible page, so that reading past their end crashes.

import Glibc

/// A region of memory that is followed by an inaccessible page (a guard page). Reading past the end of the region crashes.
enum GuardedBytes {
  /// The size of the region in bytes. Inputs that are longer are passed in ordinary memory, without a guard page.
  private static let capacity = 1 << 20

  /// The end of the region, which is the address of the guard page.
  private static let end: UInt = {
    let page = Int(sysconf(CInt(_SC_PAGESIZE)))
    let flags = MAP_PRIVATE | MAP_ANONYMOUS
    guard let base = mmap(nil, capacity + page, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED,
      mprotect(base + capacity, page, PROT_NONE) == 0
    else { fatalError("no memory for a guard page") }
    return UInt(bitPattern: base + capacity)
  }()

  /// Calls `body` with a copy of the bytes that ends directly before the guard page.
  static func with<Result, Failure>(
    _ bytes: [UInt8], _ body: (borrowing Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard bytes.count <= capacity, let start = UnsafeMutablePointer<UInt8>(bitPattern: end - UInt(bytes.count)) else {
      return try body(bytes.span)
    }
    for (index, byte) in bytes.enumerated() { start[index] = byte }
    return try body(UnsafeBufferPointer(start: start, count: bytes.count).span)
  }
}
