// BinaryPropertyListCheck: checks a property list in the binary format, which consists of "bplist00", the objects, a table of
// their offsets, and a 32-byte trailer.

import Foundation

struct BinaryPropertyListCheck {
  /// An object of a binary property list, reduced to the data that the check needs.
  private enum Object {
    /// A value without elements. `bytes` is the size of the value's text, number or data in bytes.
    case scalar(bytes: Int)
    /// An array or a dictionary. `references` is the range of the bytes that refer to the elements. In a dictionary, the first
    /// `keys` references are those of its keys.
    case container(references: Range<Int>, keys: Int)
  }

  /// An array or dictionary whose elements are currently being checked.
  private struct Frame {
    let object: Int
    let references: Range<Int>
    let keys: Int
    var next = 0
    var bytes = PropertyListLimits.valueBytes
    var height = 1
  }

  private enum Visit {
    case none, inside
    case done(bytes: Int, height: Int)
  }

  private let bytes: [UInt8]
  private let offsetBytes: Int
  private let referenceBytes: Int
  private let objectCount: Int
  private let top: Int
  private let table: Int
  private let expandedBytesMax: Int

  private var visits: [Visit] = []
  private var frames: [Frame] = []

  /// Reads the header and the trailer of a binary property list. The trailer contains 5 unused bytes, a sort version, the size of
  /// an offset, the size of an object reference, the number of objects, the number of the root object, and the position of the
  /// offset table.
  init(_ bytes: [UInt8]) throws(PropertyListError) {
    guard bytes.starts(with: "bplist00".utf8) else { throw .unknownFormat }
    let trailer = bytes.count - 32
    guard trailer >= 9 else { throw .malformed(part: "trailer", offset: bytes.count) }
    self.bytes = bytes
    offsetBytes = Int(bytes[trailer + 6])
    referenceBytes = Int(bytes[trailer + 7])
    guard 1...8 ~= offsetBytes, 1...8 ~= referenceBytes else {
      throw .malformed(part: "trailer's size of offsets or references", offset: trailer + 6)
    }
    objectCount = Self.number(in: bytes, at: trailer + 8, length: 8) ?? .max
    top = Self.number(in: bytes, at: trailer + 16, length: 8) ?? .max
    table = Self.number(in: bytes, at: trailer + 24, length: 8) ?? .max
    guard 9...trailer ~= table else { throw .malformed(part: "trailer's offset table position", offset: trailer + 24) }
    guard 1...trailer ~= objectCount, objectCount <= (trailer - table) / offsetBytes else {
      throw .malformed(part: "trailer's number of objects", offset: trailer + 8)
    }
    guard top < objectCount else { throw .malformed(part: "trailer's root object", offset: trailer + 16) }
    expandedBytesMax = PropertyListLimits.expandedBytesMax(bytes: bytes.count)
  }

  /// Checks the root object and each object below it once, and adds up the memory that Foundation needs to read the property list.
  mutating func check() throws(PropertyListError) {
    visits = Array(repeating: .none, count: objectCount)
    _ = try enter(top)
    while let frame = frames.last {
      if frame.next == frame.references.count / referenceBytes {
        frames.removeLast()
        visits[frame.object] = .done(bytes: frame.bytes, height: frame.height)
        try add(bytes: frame.bytes, height: frame.height)
      } else {
        let reference = frame.references.lowerBound + frame.next * referenceBytes
        frames[frames.count - 1].next += 1
        guard let object = Self.number(in: bytes, at: reference, length: referenceBytes), object < objectCount else {
          throw .malformed(part: "reference", offset: reference)
        }
        if frame.next < frame.keys { try checkKey(object) }
        if case .done(let bytes, let height) = try enter(object) { try add(bytes: bytes, height: height) }
      }
    }
  }

  /// Begins to check the object with the number `index`. If the object is a container that hasn't been checked yet, pushes it onto
  /// the stack of containers. Otherwise, returns the result of the check.
  private mutating func enter(_ index: Int) throws(PropertyListError) -> Visit {
    switch visits[index] {
    case .inside: throw .cyclic(object: index)
    case .done: break
    case .none:
      switch try object(index) {
      case .scalar(let bytes):
        visits[index] = .done(bytes: PropertyListLimits.valueBytes + bytes, height: 0)
      case .container(let references, let keys):
        guard frames.count < PropertyListLimits.nestingMax else {
          throw .nestsTooDeep(levelsMax: PropertyListLimits.nestingMax)
        }
        visits[index] = .inside
        frames.append(Frame(object: index, references: references, keys: keys))
      }
    }
    return visits[index]
  }

  /// Adds a checked object's size in memory to that of the innermost unfinished container, and updates the container's height.
  /// Throws `PropertyListError.expandsTooFar` or `.nestsTooDeep` if the container exceeds a limit.
  private mutating func add(bytes: Int, height: Int) throws(PropertyListError) {
    guard let last = frames.indices.last else { return }
    frames[last].bytes += bytes
    frames[last].height = max(frames[last].height, height + 1)
    guard frames[last].bytes <= expandedBytesMax else { throw .expandsTooFar(bytesMax: expandedBytesMax) }
    guard frames.count + height <= PropertyListLimits.nestingMax else {
      throw .nestsTooDeep(levelsMax: PropertyListLimits.nestingMax)
    }
  }

  /// Checks that the dictionary key with the object number `index` is text. Foundation accepts other keys, but traps when it looks
  /// up a key in the dictionary.
  private func checkKey(_ index: Int) throws(PropertyListError) {
    let offset = try offset(of: index)
    guard [0x5, 0x6].contains(bytes[offset] >> 4) else { throw .malformed(part: "key", offset: offset) }
  }

  private func offset(of index: Int) throws(PropertyListError) -> Int {
    let entry = table + index * offsetBytes
    guard let offset = Self.number(in: bytes, at: entry, length: offsetBytes), 8..<table ~= offset else {
      throw .malformed(part: "offset", offset: entry)
    }
    return offset
  }

  /// Parses the object with the number `index`. Its first byte is the marker. The marker's high four bits are the kind of the
  /// object, and its low four bits are a length, a power of two or a value.
  private func object(_ index: Int) throws(PropertyListError) -> Object {
    let offset = try offset(of: index)
    let (kind, low) = (bytes[offset] >> 4, Int(bytes[offset] & 15))
    switch (kind, low) {
    case (0x0, 0x0), (0x0, 0x8), (0x0, 0x9):  // null, false, true
      return .scalar(bytes: 0)
    case (0x1, 0...4), (0x2, 2...3):  // integers and numbers of 2^n bytes
      return try scalar(at: offset + 1, count: 1 << low, width: 1)
    case (0x3, 3):  // a date: seconds as a Double. Foundation traps when it prints a date that isn't finite.
      let date = try scalar(at: offset + 1, count: 8, width: 1)
      let isFinite = bytes[offset + 1] & 0x7F != 0x7F || bytes[offset + 2] & 0xF0 != 0xF0
      guard isFinite else { throw .malformed(part: "date", offset: offset) }
      return date
    case (0x8, 0...7):  // UIDs of n + 1 bytes, which occur in archives
      return try scalar(at: offset + 1, count: low + 1, width: 1)
    case (0x4, _), (0x5, _), (0x6, _):  // data, ASCII, UTF-16
      let (start, count) = try length(low, at: offset)
      return try scalar(at: start, count: count, width: kind == 0x6 ? 2 : 1)
    case (0xA, _), (0xD, _):  // arrays, dictionaries
      let (start, count) = try length(low, at: offset)
      let width = kind == 0xD ? 2 * referenceBytes : referenceBytes
      guard count <= (table - start) / width else { throw .malformed(part: "count", offset: offset) }
      return .container(references: start..<start + count * width, keys: kind == 0xD ? count : 0)
    default:  // sets, with which Foundation crashes, and undefined kinds
      throw .malformed(part: "marker", offset: offset)
    }
  }

  private func scalar(at start: Int, count: Int, width: Int) throws(PropertyListError) -> Object {
    guard count <= (table - start) / width else { throw .malformed(part: "length", offset: start - 1) }
    return .scalar(bytes: count * width)
  }

  /// Returns the start and the length of an object's contents. `low` is the value of the low four bits of the object's marker,
  /// which are the length. If `low` is 15, the length is the integer that follows the marker.
  private func length(_ low: Int, at offset: Int) throws(PropertyListError) -> (start: Int, count: Int) {
    guard low == 15 else { return (offset + 1, low) }
    let marker = offset + 1
    guard marker < table, 0x10...0x13 ~= bytes[marker] else { throw .malformed(part: "length", offset: marker) }
    let width = 1 << Int(bytes[marker] & 15)
    guard marker + 1 + width <= table, let count = Self.number(in: bytes, at: marker + 1, length: width) else {
      throw .malformed(part: "length", offset: marker)
    }
    return (marker + 1 + width, count)
  }

  /// Returns the big-endian unsigned number in `length` bytes at `offset`, or nil if the number doesn't fit in an `Int`.
  private static func number(in bytes: [UInt8], at offset: Int, length: Int) -> Int? {
    var number: UInt64 = 0
    for byte in bytes[offset..<offset + length] { number = number << 8 | UInt64(byte) }
    return Int(exactly: number)
  }
}
