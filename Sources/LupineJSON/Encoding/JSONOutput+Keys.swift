// The keys of objects: separators, conversion, duplicates and order.

/// The position of a key in the document.
struct JSONWrittenKey: BitwiseCopyable {
  /// The offset of the first quotation mark, and the one after the last.
  let start: Int
  let end: Int
}

extension JSONOutput {
  /// The largest number of keys that a new key is compared with. Beyond, a hash takes less time.
  private static let keysComparedMax = 32

  /// Writes a key into the object, so that its value is the next to be written.
  @inline(__always)
  func key(_ key: some CodingKey, of object: JSONWrittenObject) throws {
    try resume(object.serial)
    if convertsKeys {
      try write(converted: key, object)
    } else {
      key.stringValue.withJSONBytes { _ = write($0) }
    }
  }

  @inline(never)
  private func write(converted key: some CodingKey, _ object: JSONWrittenObject) throws {
    switch state.pointee.options.keys {
    case .none: key.stringValue.withJSONBytes { _ = write($0) }
    case .custom(let convert):
      // The closure may call anything, and this object may be changed meanwhile.
      let converted = convert(object.codingPath + [key]).stringValue
      try resume(object.serial)
      converted.withJSONBytes { _ = write($0) }
    case .snakeCase:
      let isConverted = key.stringValue.withJSONBytes { name -> Bool in
        let converted = state.pointee.conversions.converted(name) {
          SnakeCase.fromCamelCase(name, into: &state.pointee.scratch)
        }
        // Unicode's rules may apply to other characters.
        return write(converted)
      }
      guard isConverted else { throw unusable() }
    }
  }

  /// Writes a key as it is into the innermost value, which is an object. Keys of a dictionary are known to be distinct. Returns
  /// whether all characters are ASCII.
  @inline(__always)
  func write(_ name: JSONBytes, isDistinct: Bool = false) -> Bool {
    separate()
    let start = buffer.count
    let isASCII = buffer.string(name)
    let end = buffer.count
    buffer.reserve(3)
    if isPretty { buffer.byte(0x20) }
    buffer.byte(0x3A)
    if isPretty { buffer.byte(0x20) }
    let value = top
    if end &- start != name.count &+ 2 { value.pointee.hasEscapedKeys = true }
    if !isDistinct {
      if !isASCII { value.pointee.hasUnicodeKeys = true }
      let bit: UInt64 = 1 << (name.weakHash >> 58)
      if value.pointee.filter & bit != 0 { checkDuplicates(start, end) }
      value.pointee.filter |= bit
    }
    keys.push(JSONWrittenKey(start: start, end: end))
    return isASCII
  }

  // Foundation keeps the later one of two values for a key.
  @inline(never)
  private func checkDuplicates(_ start: Int, _ end: Int) {
    let value = top
    let name = buffer.bytes(start..<end)
    let first = value.pointee.firstKey
    if keys.count - first <= Self.keysComparedMax {
      for index in first..<keys.count where bytes(of: keys[index]).equals(name) { unusable() }
      return
    }
    if value.pointee.table < 0 {
      value.pointee.table = state.pointee.tables.count
      state.pointee.tables.append(JSONKeyTable(first: first))
    }
    if state.pointee.tables[value.pointee.table].contains(name, keys, buffer) { unusable() }
  }

  // The bytes of a key with its quotation marks.
  private func bytes(of key: JSONWrittenKey) -> JSONBytes { buffer.bytes(key.start..<key.end) }

  // The bytes that the escapes of a key stand for.
  private func text(of key: JSONWrittenKey) -> String { JSONEscape.text(of: buffer.bytes(key.start + 1..<key.end - 1)) }

  // SAFETY: the pointer is that of the innermost value, and nothing is pushed meanwhile.

  /// Checks and sorts the keys of an object that is about to end.
  @inline(__always)
  func finishKeys(_ value: UnsafeMutablePointer<JSONOpenValue>) {
    if value.pointee.hasUnicodeKeys { checkEquivalents(value.pointee) }
    if state.pointee.options.sortsKeys, value.pointee.count > 1 { sort(value.pointee) }
    if value.pointee.table >= 0 { state.pointee.tables.removeLast(state.pointee.tables.count - value.pointee.table) }
    keys.removeAll(from: value.pointee.firstKey)
  }

  // Strings are equal if they are canonically equivalent.
  @inline(never)
  private func checkEquivalents(_ value: JSONOpenValue) {
    var names: Set<String> = []
    for index in value.firstKey..<keys.count where !names.insert(text(of: keys[index])).inserted { unusable() }
  }

  // Sorts the keys by their bytes, as Foundation does.
  @inline(never)
  private func sort(_ value: JSONOpenValue) {
    let range = value.firstKey..<keys.count
    guard let start = range.first.map({ keys[$0].start }) else { return }
    let order: [Int]
    if value.hasEscapedKeys {
      let names = range.map { Array(text(of: keys[$0]).utf8) }
      order = range.sorted { names[$0 - range.lowerBound].lexicographicallyPrecedes(names[$1 - range.lowerBound]) }
    } else {
      // Without the closing quotation mark (0x22), which would put "a" after "a!" (0x21).
      func name(_ index: Int) -> JSONBytes { buffer.bytes(keys[index].start + 1..<keys[index].end - 1) }
      guard range.dropFirst().contains(where: { name($0).precedes(name($0 - 1)) }) else { return }
      order = range.sorted { name($0).precedes(name($1)) }
    }
    // A comma, and in indented documents a line end and spaces.
    let separator = separatorLength
    let end = buffer.count
    var sorted = JSONBuffer(capacity: end - start, escapesSlashes: false)
    defer { sorted.free() }
    for index in order {
      let next = index + 1 < range.upperBound ? keys[index + 1].start : end + separator
      if sorted.count > 0 {
        let second = keys[range.lowerBound + 1].start
        sorted.plain(buffer.bytes(second - separator..<second))
      }
      sorted.plain(buffer.bytes(keys[index].start..<next - separator))
    }
    buffer.replace(from: start, by: sorted.bytes(0..<sorted.count))
  }
}

/// A hash table of an open object's keys.
struct JSONKeyTable {
  // The index of the object's first key.
  private let first: Int
  // The number of keys in the table.
  private var count = 0
  // The numbers of keys, from 1 on, or 0. At most half of the slots are used.
  private var slots: [UInt32] = []

  init(first: Int) { self.first = first }

  /// Adds the keys that the table doesn't have, and returns whether one of them has these bytes.
  mutating func contains(_ name: JSONBytes, _ keys: JSONStack<JSONWrittenKey>, _ buffer: JSONBuffer) -> Bool {
    if (keys.count - first) * 2 > slots.count {
      var slotCount = max(128, slots.count * 4)
      while slotCount < (keys.count - first) * 2 { slotCount *= 2 }
      slots = Array(repeating: 0, count: slotCount)
      count = 0
    }
    while first + count < keys.count {
      let key = buffer.bytes(keys[first + count].start..<keys[first + count].end)
      count += 1
      slots[slot(of: key, keys, buffer)] = UInt32(truncatingIfNeeded: count)
    }
    return slots[slot(of: name, keys, buffer)] != 0
  }

  // Returns the slot of the key with these bytes, or the unused one for it.
  private func slot(of name: JSONBytes, _ keys: JSONStack<JSONWrittenKey>, _ buffer: JSONBuffer) -> Int {
    var slot = Int(truncatingIfNeeded: name.strongHash) & (slots.count - 1)
    while slots[slot] != 0 {
      let key = keys[first + Int(slots[slot]) - 1]
      if buffer.bytes(key.start..<key.end).equals(name) { return slot }
      slot = (slot + 1) & (slots.count - 1)
    }
    return slot
  }
}

extension JSONBytes {
  /// Whether the bytes are before the others in the order of dictionaries.
  func precedes(_ other: JSONBytes) -> Bool {
    let shared = min(count, other.count)
    var index = 0
    while index <= shared - 8 {
      let (word, otherWord) = (word(at: index), other.word(at: index))
      if word != otherWord { return word.byteSwapped < otherWord.byteSwapped }
      index &+= 8
    }
    while index < shared {
      if self[index] != other[index] { return self[index] < other[index] }
      index &+= 1
    }
    return count < other.count
  }
}
