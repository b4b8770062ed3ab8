// TransferOptions: the options of a background task's request, as they are recorded.

internal import LupineReactor

/// The rarely used options of a background task's request. A property is nil if the caller has never set the option.
package struct TransferOptions: Sendable, Equatable, Codable {
  package var allowsCellularAccess: Bool?
  package var allowsExpensiveNetworkAccess: Bool?
  package var allowsConstrainedNetworkAccess: Bool?
  package var usesPipelining: Bool?
  /// The raw value of the request's `networkServiceType`, which states the kind of its traffic.
  package var networkServiceType: UInt32?
  package var bodyBytesMax: Int64?
  package var priority: Float?
  /// The request's time limits in nanoseconds, in the order of the engine's phases, with the total limit last. An element is nil if
  /// the caller has turned this limit off.
  package var timeLimits: [Int64?]?

  /// The keys of the options in resume data, which must not change.
  private enum CodingKeys: String, CodingKey {
    case allowsCellularAccess = "cellular"
    case allowsExpensiveNetworkAccess = "expensive"
    case allowsConstrainedNetworkAccess = "constrained"
    case usesPipelining = "pipelining"
    case networkServiceType = "serviceType"
    case bodyBytesMax, priority, timeLimits
  }

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

  /// Decodes the options from a record. Returns nil if the bytes are malformed.
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
  fileprivate mutating func optionalNumbers() -> [UInt64?]? {
    list { (reader: inout RecordBytes) -> UInt64?? in reader.optional { $0.number64() } }
  }

  /// Decodes a byte that must be 0 (false) or 1 (true). Returns nil if it is neither.
  fileprivate mutating func flag() -> Bool? { byte().flatMap { $0 <= 1 ? $0 == 1 : nil } }
}
