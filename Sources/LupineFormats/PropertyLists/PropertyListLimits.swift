// `PropertyListLimits`: the limits for property lists, with units and sources.

enum PropertyListLimits {
  /// The maximum nesting of a property list's arrays, dictionaries and other elements: 512 levels, Foundation's limit for JSON. For
  /// some property lists, Foundation has no limit, and its stack overflows.
  static let nestingMax = 512

  /// The memory that the check assumes for each value of a binary property list, not counting the value's text or data: 16 bytes,
  /// about as much as Foundation allocates.
  static let valueBytes = 16

  /// The number of bytes of memory to which a binary property list may always expand, even if `expansionRatioMax` allows less:
  /// 16 MiB, which is harmless. A list expands if it refers to a value several times, because Foundation reads the value once per
  /// reference.
  static let expandedBytesFloor = 16 << 20

  /// The maximum expansion of a binary property list: 64 bytes of memory for each byte of the list. Real lists expand less. For
  /// example, a list of a million references to texts of 100 bytes expands to 39 bytes for each byte.
  static let expansionRatioMax = 64

  /// Returns the maximum number of bytes of memory to which a binary property list of `bytes` bytes may expand.
  static func expandedBytesMax(bytes: Int) -> Int {
    let product = bytes.multipliedReportingOverflow(by: expansionRatioMax)
    return product.overflow ? .max : max(product.partialValue, expandedBytesFloor)
  }
}
