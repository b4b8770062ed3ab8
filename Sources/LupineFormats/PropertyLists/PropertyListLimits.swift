// `PropertyListLimits`: the limits for property lists, with units and sources.

enum PropertyListLimits {
  /// The maximum nesting of arrays, dictionaries and other elements: 512, Foundation's limit for JSON. For some property lists,
  /// Foundation has no limit and overflows its stack.
  static let nestingMax = 512

  /// The assumed size of a value in a binary list in bytes, without its text or data: about what Foundation allocates.
  static let valueBytes = 16

  /// The size in bytes to which any binary list may expand: 16 MiB, because smaller sizes do no harm. Lists expand because values
  /// referenced twice are duplicated when they are read.
  static let expandedBytesFloor = 16 << 20

  /// The maximum expansion of a binary list: 64 bytes per byte. Real lists stay below it; a list of a million references to
  /// 100-byte texts reaches 39.
  static let expansionRatioMax = 64

  /// Returns the maximum expanded size of a binary list of `bytes` bytes.
  static func expandedBytesMax(bytes: Int) -> Int {
    let product = bytes.multipliedReportingOverflow(by: expansionRatioMax)
    return product.overflow ? .max : max(product.partialValue, expandedBytesFloor)
  }
}
