// The keys of objects: finding the value of a key in constant time on average, without a dictionary for each object.
//
// A type usually asks for keys in the order of the document. The second word of an object on the tape is therefore the reader's
// progress: the position after the key that was found last (the low 32 bits), and a filter of the keys before it (the high 32
// bits). A key whose bit isn't in the filter is none of them. This matters because the first of several equal keys counts, as with
// Foundation's JSONDecoder. If a large object isn't read in order, the document makes an index of its keys, whose number then
// replaces the filter.

extension JSONReader {
  /// The largest number of keys that are compared one after the other. Beyond, a hash takes less time.
  private static let keysComparedMax = 16

  /// Returns the index in the tape of the value for a key of an object, or nil if there is none.
  func value(of name: String, in object: JSONObject) -> Int? {
    // SAFETY: the pointer is used only while the closure runs.
    let next = name.utf8.withContiguousStorageIfAvailable { buffer in
      nextValue(of: JSONBytes(start: buffer.baseAddress ?? start, count: buffer.count), in: object.index)
    }
    if let next, let next { return next }
    return anyValue(of: name, in: object)
  }

  // Most keys are the next ones in the order of the document. Returns nil for another key.
  @inline(__always)
  private func nextValue(of name: JSONBytes, in object: Int) -> Int? {
    let word = self[object]
    guard word.kind == .object, word.length > 0, !convertsKeys else { return nil }
    let state = self[object &+ 1].bits
    let key = max(Int(truncatingIfNeeded: state & 0xFFFF_FFFF), object &+ 2)
    guard key < word.position, bytes(of: self[key]).equals(name) else { return nil }
    let bit = filterBit(name)
    let filter = UInt32(truncatingIfNeeded: state >> 32)
    guard filter & bit == 0 else { return nil }
    progress(to: key, of: object, filter: filter | bit)
    return key &+ 1
  }

  @inline(never)
  private func anyValue(of name: String, in object: JSONObject) -> Int? {
    let word = self[object.index]
    guard word.length > 0 else { return nil }
    guard word.kind != .irregularObject, !convertsKeys || isSnakeCase else { return table(of: object)[name] }
    // SAFETY: the pointer is used only while the closure runs.
    let found = name.utf8.withContiguousStorageIfAvailable { buffer in
      search(JSONBytes(start: buffer.baseAddress ?? start, count: buffer.count), in: object.index, word)
    }
    guard let found else { return table(of: object)[name] }
    if let found { return found }
    // A string beyond ASCII can equal one in ASCII: the Kelvin sign is a K.
    return name.utf8.allSatisfy { $0 < 0x80 } ? nil : table(of: object)[name]
  }

  private func search(_ name: JSONBytes, in object: Int, _ word: JSONWord) -> Int? {
    let state = self[object &+ 1].bits
    let start = max(Int(truncatingIfNeeded: state & 0xFFFF_FFFF), object &+ 2)
    if word.kind == .indexedObject {
      return find(name, in: object, index: Int(state >> 32), next: start, end: word.position)
    }
    let bit = filterBit(name)
    var filter = UInt32(truncatingIfNeeded: state >> 32)
    var key = start
    if filter & bit != 0 {
      // The key may be one before `start`.
      if word.length > Self.keysComparedMax { return makeIndex(object, then: name) }
      key = object &+ 2
      while key < start {
        if effectiveKey(key).equals(name) { return key &+ 1 }
        key = index(after: key &+ 1)
      }
    }
    var steps = 0
    while key < word.position {
      let candidate = effectiveKey(key)
      if candidate.equals(name) {
        progress(to: key, of: object, filter: filter | bit)
        return key &+ 1
      }
      steps &+= 1
      if steps > Self.keysComparedMax { return makeIndex(object, then: name) }
      filter |= filterBit(candidate)
      key = index(after: key &+ 1)
    }
    return nil
  }

  // Continues the next search after the key at `key`.
  @inline(__always)
  private func progress(to key: Int, of object: Int, filter: UInt32) {
    let next = index(after: key &+ 1)
    self[object &+ 1] = JSONWord(bits: UInt64(filter) << 32 | UInt64(truncatingIfNeeded: next))
  }

  @inline(__always)
  private func filterBit(_ name: JSONBytes) -> UInt32 { 1 << UInt32(truncatingIfNeeded: name.weakHash >> 59) }

  /// Returns the bytes of the key at `index` after conversion. They are valid until the next call with the same memory.
  @inline(__always)
  private func effectiveKey(_ index: Int, in memory: Memory = .first) -> JSONBytes {
    let word = self[index]
    let bytes = bytes(of: word)
    guard isSnakeCase else { return bytes }
    return document.conversions.converted(bytes) { converted(bytes, memory) }
  }

  /// The memory for a converted key.
  private enum Memory { case first, second }

  @inline(never)
  private func converted(_ bytes: JSONBytes, _ memory: Memory) -> JSONBytes {
    memory == .first ? converted(bytes, &document.scratch) : converted(bytes, &document.secondScratch)
  }

  private func converted(_ bytes: JSONBytes, _ memory: inout JSONScratch) -> JSONBytes {
    if let converted = SnakeCase.convert(bytes, into: &memory) { return converted }
    guard case .fromSnakeCase(let convert) = document.options.keys else { return bytes }
    return memory.copy(convert(bytes.text))
  }

  // MARK: Large objects

  private func makeIndex(_ object: Int, then name: JSONBytes) -> Int? {
    let number = document.indexes.count
    document.indexes.append(index(of: object))
    let word = self[object]
    self[object] = JSONWord(.indexedObject, length: word.length, position: word.position)
    let start = object &+ 2
    self[object &+ 1] = JSONWord(bits: UInt64(number) << 32 | UInt64(start))
    return find(name, in: object, index: number, next: start, end: word.position)
  }

  private func index(of object: Int) -> JSONKeyIndex {
    let word = self[object]
    var index = JSONKeyIndex(keys: word.length)
    var key = object &+ 2
    while key < word.position {
      let name = effectiveKey(key)
      if find(name, in: index, memory: .second) == nil {
        index.insert(key, hash: name.strongHash)
      } else {
        index.isDistinct = false
      }
      key = self.index(after: key &+ 1)
    }
    return index
  }

  private func find(_ name: JSONBytes, in object: Int, index number: Int, next: Int, end: Int) -> Int? {
    // In order again, unless an equal key may have been before.
    if next < end, document.indexes[number].isDistinct, effectiveKey(next).equals(name) {
      progress(to: next, of: object, index: number)
      return next &+ 1
    }
    guard let key = find(name, in: document.indexes[number], memory: .first) else { return nil }
    progress(to: key, of: object, index: number)
    return key &+ 1
  }

  private func progress(to key: Int, of object: Int, index number: Int) {
    let next = index(after: key &+ 1)
    self[object &+ 1] = JSONWord(bits: UInt64(number) << 32 | UInt64(truncatingIfNeeded: next))
  }

  private func find(_ name: JSONBytes, in index: JSONKeyIndex, memory: Memory) -> Int? {
    var slot = index.slot(of: name.strongHash)
    while index.slots[slot] != 0 {
      let key = Int(index.slots[slot])
      if effectiveKey(key, in: memory).equals(name) { return key }
      slot = index.slot(after: slot)
    }
    return nil
  }

  // MARK: All keys

  /// Returns the different keys of the object, after conversion.
  func names(of object: JSONObject) -> [String] {
    let start = object.index
    let word = self[start]
    guard word.length > 0 else { return [] }
    guard word.kind != .irregularObject, !convertsKeys || isSnakeCase else { return Array(table(of: object).keys) }
    var names: [String] = []
    names.reserveCapacity(word.length)
    // The filter shows that most keys are different from all keys before them.
    var filter: UInt32 = 0
    let index = word.length > Self.keysComparedMax ? index(of: start) : nil
    var key = start &+ 2
    while key < word.position {
      let name = effectiveKey(key)
      if let index {
        if index.isDistinct || find(name, in: index, memory: .second) == key { names.append(name.text) }
      } else {
        let bit = filterBit(name)
        let text = name.text
        if filter & bit == 0 || !names.contains(text) { names.append(text) }
        filter |= bit
      }
      key = self.index(after: key &+ 1)
    }
    return names
  }

  // MARK: Keys that are compared as strings

  private func table(of object: JSONObject) -> [String: Int] {
    if let table = object.table { return table }
    let table = table(of: object.index, object.location)
    object.table = table
    return table
  }

  /// Returns the indexes of the object's values by converted key, for keys beyond ASCII, with escapes or with a custom conversion.
  /// Swift's strings are equal if they are canonically equivalent, and the first of equal keys counts.
  func table(of object: Int, _ location: JSONLocation) -> [String: Int] {
    let word = self[object]
    var table: [String: Int] = [:]
    table.reserveCapacity(word.length)
    // A custom conversion depends on the path.
    let parents = convertsKeys && !isSnakeCase ? location.keys : []
    var key = object &+ 2
    while word.length > 0, key < word.position {
      let name = convertedText(of: self[key], parents: parents)
      if table[name] == nil { table[name] = key &+ 1 }
      key = index(after: key &+ 1)
    }
    return table
  }

  private func convertedText(of word: JSONWord, parents: [any CodingKey]) -> String {
    let text = text(word)
    switch document.options.keys {
    case .none: return text
    case .custom(let convert): return convert(parents + [JSONKey(stringValue: text)]).stringValue
    case .fromSnakeCase(let convert): return text.utf8.contains(0x5F) ? convert(text) : text
    }
  }
}

/// A hash table of an object's keys. The first of equal keys is in it.
struct JSONKeyIndex {
  /// The indexes of keys in the tape, or 0. At most half of the slots are used.
  private(set) var slots: [UInt32]
  /// Whether no two keys of the object are equal.
  var isDistinct = true
  private let shift: UInt64

  init(keys: Int) {
    let bits = UInt64(64 - (keys * 2).leadingZeroBitCount)
    slots = Array(repeating: 0, count: 1 << Int(bits))
    shift = 64 - bits
  }

  func slot(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> shift) }

  func slot(after slot: Int) -> Int { (slot &+ 1) & (slots.count &- 1) }

  mutating func insert(_ key: Int, hash: UInt64) {
    var slot = slot(of: hash)
    while slots[slot] != 0 { slot = self.slot(after: slot) }
    slots[slot] = UInt32(truncatingIfNeeded: key)
  }
}

extension JSONBytes {
  var text: String { String(decoding: buffer, as: UTF8.self) }

  /// A hash of all bytes with two secrets of the process, so that a peer can't choose keys whose hashes are equal.
  var strongHash: UInt64 {
    let secrets = Self.secrets
    var hash = secrets.0 ^ UInt64(truncatingIfNeeded: count)
    if count >= 8 {
      var index = 0
      while index < count - 8 {
        hash = Self.mixed(hash ^ word(at: index), secrets.1)
        index &+= 8
      }
      hash = Self.mixed(hash ^ word(at: count - 8), secrets.1)
    } else {
      var rest: UInt64 = 0
      var index = 0
      while index < count {
        rest = rest << 8 | UInt64(self[index])
        index &+= 1
      }
      hash = Self.mixed(hash ^ rest, secrets.1)
    }
    return Self.mixed(hash, secrets.0)
  }

  private static let secrets = (UInt64.random(in: .min ... .max) | 1, UInt64.random(in: .min ... .max) | 1)

  // All bits of both numbers affect all bits of the result.
  @inline(__always)
  private static func mixed(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let (high, low) = left.multipliedFullWidth(by: right)
    return high ^ low
  }
}
