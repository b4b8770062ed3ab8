// Every limit of reading property lists, with its unit and source.

enum PropertyListLimits {
  /// How deep arrays, dictionaries and other elements may nest; 512 as in Foundation's JSON. Foundation limits that of
  /// some property lists only, and for the others it overruns its stack.
  static let nestingMax = 512

  /// What a value of a binary list counts for, in bytes, besides its text or data: about what Foundation takes for it.
  static let valueBytes = 16

  /// Bytes that a binary list may always expand to, since values that are referred to twice are there twice once they
  /// are read; 16 MiB, as what is smaller does no harm.
  static let expandedBytesFloor = 16 << 20

  /// Bytes that a binary list may expand to for each byte of its own; 64, as no honest list has come near it: a list
  /// of a million references to texts of 100 bytes comes to 39.
  static let expansionRatioMax = 64

  /// Bytes that a binary list of `bytes` may expand to.
  static func expandedBytesMax(bytes: Int) -> Int {
    let product = bytes.multipliedReportingOverflow(by: expansionRatioMax)
    return product.overflow ? .max : max(product.partialValue, expandedBytesFloor)
  }
}
