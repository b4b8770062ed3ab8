// Punycode: encodes domain labels of other scripts in ASCII (RFC 3492). The list of public suffixes contains such labels in
// Unicode, but URLs and Domain attributes contain them in ASCII.

/// The Bootstring algorithm (RFC 3492) with Punycode's parameters, which encodes Unicode text in ASCII.
enum Punycode {
  // RFC 3492 §5
  private static let base = 36
  private static let (tMin, tMax) = (1, 26)
  private static let (skew, damp) = (38, 700)
  private static let (initialBias, initialN) = (72, 128)

  /// Converts each label of a domain from UTF-8 to ASCII (A-labels). The labels must be lowercase and normalized, as in the list of
  /// public suffixes. Invalid UTF-8 results in a name that no host can have.
  static func asciiDomain(_ domain: some Collection<UInt8>) -> String {
    let text = String(decoding: domain, as: UTF8.self)
    if domain.allSatisfy({ $0 < 0x80 }) { return text }
    return text.split(separator: ".", omittingEmptySubsequences: false)
      .map { label in label.utf8.allSatisfy { $0 < 0x80 } ? String(label) : "xn--" + encode(label.unicodeScalars) }
      .joined(separator: ".")
  }

  /// Encodes a label of a domain in Punycode (RFC 3492 §6.3), without the prefix `xn--`.
  static func encode(_ label: some Collection<Unicode.Scalar>) -> String {
    var output = label.filter(\.isASCII).map { UInt8($0.value) }
    let basicCount = output.count
    if basicCount > 0 { output.append(UInt8(ascii: "-")) }
    var (n, delta, bias, handled) = (initialN, 0, initialBias, basicCount)
    while handled < label.count {
      guard let next = label.lazy.map({ Int($0.value) }).filter({ $0 >= n }).min() else { break }
      delta += (next - n) * (handled + 1)
      n = next
      for scalar in label {
        if Int(scalar.value) < n { delta += 1 }
        guard Int(scalar.value) == n else { continue }
        append(delta, bias, to: &output)
        bias = adapt(delta, handled + 1, isFirst: handled == basicCount)
        delta = 0
        handled += 1
      }
      delta += 1
      n += 1
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Appends a number as digits of variable weight, least significant first (RFC 3492 §3.3). `bias` determines the weights.
  private static func append(_ number: Int, _ bias: Int, to output: inout [UInt8]) {
    var rest = number
    var k = base
    while true {
      let threshold = min(max(k - bias, tMin), tMax)
      guard rest >= threshold else { break }
      output.append(digit(threshold + (rest - threshold) % (base - threshold)))
      rest = (rest - threshold) / (base - threshold)
      k += base
    }
    output.append(digit(rest))
  }

  // RFC 3492 §6.1
  private static func adapt(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
    var delta = isFirst ? delta / damp : delta / 2
    delta += delta / count
    var k = 0
    while delta > (base - tMin) * tMax / 2 {
      delta /= base - tMin
      k += base
    }
    return k + (base - tMin + 1) * delta / (delta + skew)
  }

  // The letters a…z are the digits 0…25, and 0…9 are 26…35.
  private static func digit(_ value: Int) -> UInt8 {
    value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "0") + UInt8(value - 26)
  }
}
