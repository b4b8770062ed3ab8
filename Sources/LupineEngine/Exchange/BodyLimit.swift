// BodyLimit: a request's `bodyBytesMax`, compared with the response's head and combined with the limits for decoding.

internal import LupineCoding
internal import LupineWire

extension ResponseHead {
  /// Returns whether the response's Content-Length exceeds `bytesMax`, so that the request can fail before the body arrives.
  ///
  /// `framing` is the framing of the body, and a `bytesMax` of `Int.max` means no limit.
  ///
  /// Returns false for a redirect, a challenge (401, 407) and a refused range (416), because the caller may not want that
  /// body: it may follow the redirect, answer the challenge, or already have the entire file.
  func declaresBody(longerThan bytesMax: Int, _ framing: BodyFraming) -> Bool {
    guard bytesMax < .max, case .length(let length) = framing, length > UInt64(clamping: bytesMax) else { return false }
    return !(300..<400).contains(status) && ![401, 407, 416].contains(status)
  }
}

extension CodingLimits {
  /// Returns these limits, with `decodedBytesMax` reduced to `bodyBytesMax` if it is larger or nil.
  func within(bodyBytesMax: Int) -> CodingLimits {
    guard bodyBytesMax < .max else { return self }
    var limits = self
    limits.decodedBytesMax = min(decodedBytesMax ?? .max, UInt64(clamping: bodyBytesMax))
    return limits
  }
}
