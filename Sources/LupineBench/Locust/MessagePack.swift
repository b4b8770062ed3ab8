// MessagePack: the subset of the MessagePack format that Locust's messages use (github.com/msgpack/msgpack, spec.md).

#if Bench
  /// A value in MessagePack.
  enum MessagePack: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case text(String)
    case array([MessagePack])
    /// The members of a map, in their order.
    case map([Member])

    struct Member: Sendable, Equatable {
      let key: MessagePack
      let value: MessagePack
    }

    /// The greatest depth of arrays and maps that is decoded: 32. Locust's messages have a depth of 5.
    static let depthMax = 32

    /// The value of a map's member with a text as key, or nil if there is none.
    subscript(key: String) -> MessagePack? {
      guard case .map(let members) = self else { return nil }
      return members.first { $0.key == .text(key) }?.value
    }

    /// The number as a Double, or nil if this is no number.
    var number: Double? {
      switch self {
      case .int(let number): Double(number)
      case .double(let number): number
      default: nil
      }
    }

    // MARK: Encoding

    func encode(into output: inout [UInt8]) {
      switch self {
      case .null: output.append(0xC0)
      case .bool(let flag): output.append(flag ? 0xC3 : 0xC2)
      case .int(let number): Self.append(0xD3, number, to: &output)
      case .double(let number): Self.append(0xCB, number.bitPattern, to: &output)
      case .text(let text):
        Self.append(0xDB, UInt32(clamping: text.utf8.count), to: &output)
        output += text.utf8
      case .array(let elements):
        Self.append(0xDD, UInt32(clamping: elements.count), to: &output)
        for element in elements { element.encode(into: &output) }
      case .map(let members):
        Self.append(0xDF, UInt32(clamping: members.count), to: &output)
        for member in members {
          member.key.encode(into: &output)
          member.value.encode(into: &output)
        }
      }
    }

    private static func append(_ head: UInt8, _ number: some FixedWidthInteger, to output: inout [UInt8]) {
      output.append(head)
      output += number.bigEndianBytes
    }

    // MARK: Decoding

    /// Decodes the bytes as one value. Returns nil if they aren't one, or contain what Locust doesn't send.
    init?(_ bytes: [UInt8]) {
      var rest = bytes[...]
      guard let value = Self.decode(&rest, depth: 0), rest.isEmpty else { return nil }
      self = value
    }

    private static func decode(_ bytes: inout ArraySlice<UInt8>, depth: Int) -> MessagePack? {
      guard depth <= depthMax, let head = bytes.popFirst() else { return nil }
      switch head {
      case 0x00...0x7F: return .int(Int64(head))
      case 0xE0...0xFF: return .int(Int64(Int8(bitPattern: head)))
      case 0xC0: return .null
      case 0xC2, 0xC3: return .bool(head == 0xC3)
      case 0xCA: return number(&bytes, UInt32.self).map { .double(Double(Float(bitPattern: $0))) }
      case 0xCB: return number(&bytes, UInt64.self).map { .double(Double(bitPattern: $0)) }
      case 0xCC: return number(&bytes, UInt8.self).map { .int(Int64($0)) }
      case 0xCD: return number(&bytes, UInt16.self).map { .int(Int64($0)) }
      case 0xCE: return number(&bytes, UInt32.self).map { .int(Int64($0)) }
      case 0xCF: return number(&bytes, UInt64.self).flatMap { Int64(exactly: $0) }.map { .int($0) }
      case 0xD0: return number(&bytes, UInt8.self).map { .int(Int64(Int8(bitPattern: $0))) }
      case 0xD1: return number(&bytes, UInt16.self).map { .int(Int64(Int16(bitPattern: $0))) }
      case 0xD2: return number(&bytes, UInt32.self).map { .int(Int64(Int32(bitPattern: $0))) }
      case 0xD3: return number(&bytes, UInt64.self).map { .int(Int64(bitPattern: $0)) }
      case 0xA0...0xBF: return text(&bytes, Int(head & 0x1F))
      case 0xD9, 0xC4: return number(&bytes, UInt8.self).flatMap { text(&bytes, Int($0)) }
      case 0xDA, 0xC5: return number(&bytes, UInt16.self).flatMap { text(&bytes, Int($0)) }
      case 0xDB, 0xC6: return number(&bytes, UInt32.self).flatMap { text(&bytes, Int($0)) }
      case 0x90...0x9F: return array(&bytes, Int(head & 0x0F), depth)
      case 0xDC: return number(&bytes, UInt16.self).flatMap { array(&bytes, Int($0), depth) }
      case 0xDD: return number(&bytes, UInt32.self).flatMap { array(&bytes, Int($0), depth) }
      case 0x80...0x8F: return map(&bytes, Int(head & 0x0F), depth)
      case 0xDE: return number(&bytes, UInt16.self).flatMap { map(&bytes, Int($0), depth) }
      case 0xDF: return number(&bytes, UInt32.self).flatMap { map(&bytes, Int($0), depth) }
      default: return nil
      }
    }

    private static func number<Number: FixedWidthInteger>(_ bytes: inout ArraySlice<UInt8>, _: Number.Type) -> Number? {
      let size = MemoryLayout<Number>.size
      guard bytes.count >= size else { return nil }
      defer { bytes.removeFirst(size) }
      return bytes.prefix(size).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    private static func text(_ bytes: inout ArraySlice<UInt8>, _ count: Int) -> MessagePack? {
      guard bytes.count >= count else { return nil }
      defer { bytes.removeFirst(count) }
      return .text(String(decoding: bytes.prefix(count), as: UTF8.self))
    }

    private static func array(_ bytes: inout ArraySlice<UInt8>, _ count: Int, _ depth: Int) -> MessagePack? {
      // Each element takes at least one byte, so a large count can't reserve much.
      guard count <= bytes.count else { return nil }
      var elements: [MessagePack] = []
      for _ in 0..<count {
        guard let element = decode(&bytes, depth: depth + 1) else { return nil }
        elements.append(element)
      }
      return .array(elements)
    }

    private static func map(_ bytes: inout ArraySlice<UInt8>, _ count: Int, _ depth: Int) -> MessagePack? {
      guard count <= bytes.count / 2 else { return nil }
      var members: [Member] = []
      for _ in 0..<count {
        guard let key = decode(&bytes, depth: depth + 1), let value = decode(&bytes, depth: depth + 1) else {
          return nil
        }
        members.append(Member(key: key, value: value))
      }
      return .map(members)
    }
  }

  extension MessagePack: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral {
    init(dictionaryLiteral members: (String, MessagePack)...) {
      self = .map(members.map { Member(key: .text($0.0), value: $0.1) })
    }

    init(stringLiteral text: String) { self = .text(text) }
  }
#endif
