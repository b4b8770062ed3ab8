// TransferOptions: the options of a background task's request, as they are recorded.

internal import LupineRecords

/// The request options that are rarely set. Nil means that an option was never set.
package struct TransferOptions: Sendable, Equatable {
  package var allowsCellularAccess: Bool?
  package var allowsExpensiveNetworkAccess: Bool?
  package var allowsConstrainedNetworkAccess: Bool?
  package var usesPipelining: Bool?
  /// The raw value of the request's `networkServiceType`, which states the kind of its traffic.
  package var networkServiceType: UInt32?
  package var bodyBytesMax: Int64?
  package var priority: Float?
  /// The time limits in nanoseconds, in the order of the engine's phases, with the total limit last. An element is nil if its
  /// limit is turned off.
  package var timeLimits: [Int64?]?

  package init() {}

  // options = flag flag flag flag [service-type(4)] [body-bytes-max(8)] [priority(4)] [count(4) *[limit(8)]]; each optional
  // value is preceded by a byte: 0 if it is absent, and 1 otherwise.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for flag in [
      allowsCellularAccess, allowsExpensiveNetworkAccess, allowsConstrainedNetworkAccess, usesPipelining,
    ] {
      let number: UInt8? = flag.map { $0 ? 1 : 0 }
      bytes += RecordBytes.bytes(ofOptional: number)
    }
    bytes += RecordBytes.bytes(ofOptional: networkServiceType) + RecordBytes.bytes(ofOptional: bodyBytesMax)
    bytes += RecordBytes.bytes(ofOptional: priority?.bitPattern)
    guard let timeLimits else { return bytes + [0] }
    bytes += [1] + RecordBytes.bytes(of: UInt32(timeLimits.count))
    for limit in timeLimits { bytes += RecordBytes.bytes(ofOptional: limit) }
    return bytes
  }

  /// Reads options. Returns nil if the bytes are malformed.
  init?(_ reader: inout RecordBytes) {
    guard let cellular = reader.optional({ $0.flag() }), let expensive = reader.optional({ $0.flag() }),
      let constrained = reader.optional({ $0.flag() }), let pipelining = reader.optional({ $0.flag() }),
      let serviceType = reader.optional({ $0.number32() }), let bodyBytesMax = reader.optional({ $0.number64() }),
      let priority = reader.optional({ $0.number32() }),
      let limits = reader.optional({ $0.optionalNumbers() })
    else { return nil }
    allowsCellularAccess = cellular
    allowsExpensiveNetworkAccess = expensive
    allowsConstrainedNetworkAccess = constrained
    usesPipelining = pipelining
    networkServiceType = serviceType
    self.bodyBytesMax = bodyBytesMax.map { Int64(bitPattern: $0) }
    self.priority = priority.map { Float(bitPattern: $0) }
    timeLimits = limits.map { limits in limits.map { limit in limit.map { Int64(bitPattern: $0) } } }
  }
}

extension RecordBytes {
  /// Returns the bytes of a number that may be absent.
  static func bytes(ofOptional number: (some FixedWidthInteger)?) -> [UInt8] {
    number.map { [1] + bytes(of: $0) } ?? [0]
  }

  /// Returns the bytes of a text that may be absent.
  static func bytes(ofOptional text: String?) -> [UInt8] { text.map { [1] + bytes(of: $0.utf8) } ?? [0] }

  /// Reads a value that may be absent. Returns nil if the bytes are malformed.
  mutating func optional<Value>(_ value: (inout RecordBytes) -> Value?) -> Value?? {
    switch byte() {
    case 0: .some(nil)
    case 1: value(&self).map { .some($0) }
    default: nil
    }
  }

  /// Reads a list. Returns nil if the bytes are malformed.
  mutating func list<Element>(_ element: (inout RecordBytes) -> Element?) -> [Element]? {
    guard let count = number32() else { return nil }
    var elements: [Element] = []
    for _ in 0..<count {
      guard let element = element(&self) else { return nil }
      elements.append(element)
    }
    return elements
  }

  fileprivate mutating func optionalNumbers() -> [UInt64?]? {
    list { (reader: inout RecordBytes) -> UInt64?? in reader.optional { $0.number64() } }
  }

  /// Reads a byte that is 0 or 1.
  fileprivate mutating func flag() -> Bool? { byte().flatMap { $0 <= 1 ? $0 == 1 : nil } }
}
