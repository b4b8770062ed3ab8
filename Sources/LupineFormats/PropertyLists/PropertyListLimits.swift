// `PropertyListLimits`: the limits for property lists, with units and sources.

enum PropertyListLimits {
  /// The maximum nesting of arrays, dictionaries and other elements: 512, Foundation's limit for JSON. For some property lists,
  /// Foundation has no limit, and its stack overflows.
  static let nestingMax = 512

  /// The assumed memory in bytes for a value of a binary list, without its text or data: 16, about as many as Foundation
  /// allocates.
  static let valueBytes = 16

  /// The memory in bytes to which any binary list may expand, however short it is: 16 MiB, because this does no harm. A list
  /// expands if values are referenced several times, because Foundation reads them once per reference.
  static let expandedBytesFloor = 16 << 20

  /// The maximum expansion of a binary list: 64 bytes of memory per byte of the list. Real lists expand less. A list of a million
  /// references to 100-byte texts expands to 39 bytes per byte.
  static let expansionRatioMax = 64

  /// Returns the maximum number of bytes of memory to which a binary list of `bytes` bytes may expand.
  static func expandedBytesMax(bytes: Int) -> Int {
    let product = bytes.multipliedReportingOverflow(by: expansionRatioMax)
    return product.overflow ? .max : max(product.partialValue, expandedBytesFloor)
  }
}
