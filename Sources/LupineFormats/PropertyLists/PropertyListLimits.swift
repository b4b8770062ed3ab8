// `PropertyListLimits`: the limits for property lists, with units and sources.

enum PropertyListLimits {
  /// The maximum number of levels to which arrays, dictionaries and other elements may be nested: 512, Foundation's limit for JSON.
  /// For some property lists, Foundation has no limit, and its stack overflows.
  static let nestingMax = 512

  /// The memory in bytes that the check assumes for each value of a binary list, not counting its text or data: 16, about as many
  /// bytes as Foundation allocates.
  static let valueBytes = 16

  /// The memory in bytes to which every binary list may expand, however short the list is: 16 MiB, because this does no harm. A
  /// list expands if values are referenced several times, because Foundation reads them once per reference.
  static let expandedBytesFloor = 16 << 20

  /// The maximum expansion of a binary list: 64 bytes of memory per byte of the list. Real lists expand less. For example, a list
  /// of a million references to texts of 100 bytes expands to 39 bytes per byte.
  static let expansionRatioMax = 64

  /// Returns the maximum number of bytes of memory to which a binary list of `bytes` bytes may expand.
  static func expandedBytesMax(bytes: Int) -> Int {
    let product = bytes.multipliedReportingOverflow(by: expansionRatioMax)
    return product.overflow ? .max : max(product.partialValue, expandedBytesFloor)
  }
}
