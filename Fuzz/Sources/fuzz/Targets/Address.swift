// Numeric addresses, compared with the C library.

import Glibc
@testable import LupineReactor
@testable import LupineWire

extension FuzzTarget {
  /// Fuzzes the parser of numeric addresses. The input is the text of an address.
  static let address = FuzzTarget(name: "address", summary: "numeric addresses are read as by inet_pton(3)") {
    bytes in
    // In C, a NUL ends a string, but in Swift it doesn't.
    guard !bytes.contains(0) else { return }
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.utf8.elementsEqual(bytes) else { return }
    var v4 = [UInt8](repeating: 0, count: 4)
    var v6 = [UInt8](repeating: 0, count: 16)
    let isV4 = inet_pton(AF_INET, text, &v4) == 1
    let isV6 = inet_pton(AF_INET6, text, &v6) == 1
    let expected = isV4 ? v4 : isV6 ? v6 : nil
    hold(IPv6Literal.isValid(text) == isV6, "\(text.debugDescription) is an IPv6 address: \(isV6)")
    let ours = IPAddress(text)?.bytes
    hold(
      ours == expected, "\(text.debugDescription) is \(String(describing: ours)), not \(String(describing: expected))")
  }
}
