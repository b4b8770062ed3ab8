// SnakeCase: the conversion of keys from snake_case to camelCase, as Foundation's JSONDecoder does it.

/// Memory for a converted key, which is allocated on first use.
struct JSONScratch: ~Copyable {
  private var start: UnsafeMutablePointer<UInt8>?
  private var capacity = 0

  deinit { start?.deallocate() }

  /// Returns memory for at least `count` bytes. The memory returned before must not be used any more.
  mutating func memory(_ count: Int) -> UnsafeMutablePointer<UInt8> {
    if let start, count <= capacity { return start }
    // SAFETY: a converted key is used only until the next conversion, so nothing refers to the old memory.
    start?.deallocate()
    capacity = max(64, count * 2)
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    start = memory
    return memory
  }

  /// Returns the bytes of a copy of the text.
  mutating func copy(_ text: String) -> JSONBytes {
    let target = memory(text.utf8.count)
    // SAFETY: the memory has room for all bytes.
    var count = 0
    for byte in text.utf8 {
      target[count] = byte
      count += 1
    }
    return JSONBytes(start: UnsafePointer(target), count: count)
  }
}

package enum SnakeCase {
  /// Returns the converted key of ASCII characters, which is in `memory` or is the key itself. Returns nil if a word has characters
  /// for which Foundation applies Unicode's rules.
  static func convert(_ key: JSONBytes, into memory: inout JSONScratch) -> JSONBytes? {
    var start = 0
    while start < key.count, key[start] == 0x5F { start += 1 }
    var end = key.count
    while end > start, key[end - 1] == 0x5F { end -= 1 }
    var first = start
    while first < end, key[first] != 0x5F { first += 1 }
    // Without an underscore between other characters, the key stays as it is.
    if first >= end { return key }
    let target = memory.memory(key.count)
    // SAFETY: at most one byte is written for each byte of the key, and the memory has room for all of them.
    var written = 0
    for index in 0..<start {
      target[index] = key[index]
      written &+= 1
    }
    var isFirstWord = true
    var isAtStart = true
    var index = start
    while index < end {
      let byte = key[index]
      index &+= 1
      switch byte {
      case 0x5F:
        isFirstWord = false
        isAtStart = true
        continue
      case 0x30...0x39:
        target[written] = byte
        written &+= 1
        // The letter after a digit becomes a capital: b2c becomes B2C.
        isAtStart = true
        continue
      case 0x41...0x5A, 0x61...0x7A:
        target[written] = isAtStart && !isFirstWord ? byte & ~0x20 : byte | 0x20
      default: return nil
      }
      written &+= 1
      isAtStart = false
    }
    for index in end..<key.count {
      target[written] = key[index]
      written &+= 1
    }
    return JSONBytes(start: UnsafePointer(target), count: written)
  }

  /// Converts a key of any characters. `capitalized` converts each word after the first one.
  package static func convert(_ key: String, capitalized: (Substring) -> String) -> String {
    guard let first = key.firstIndex(where: { $0 != "_" }), let last = key.lastIndex(where: { $0 != "_" }) else {
      return key
    }
    let words = key[first...last].split(separator: "_")
    guard words.count > 1 else { return key }
    let rest = words.dropFirst().map(capitalized).joined()
    return key[..<first] + words[0].lowercased() + rest + key[key.index(after: last)...]
  }

  /// As Foundation's `capitalized`, except for a few modifiers: the letter after a character that isn't part of a word becomes a
  /// capital, so that b2c becomes B2C.
  static func capitalized(_ word: Substring) -> String {
    var (result, followsLetter) = ("", false)
    for scalar in word.unicodeScalars {
      let properties = scalar.properties
      if properties.isUppercase || properties.isLowercase {
        let first = properties.isUppercase ? String(scalar) : properties.titlecaseMapping
        result += followsLetter ? properties.lowercaseMapping : first
        followsLetter = true
      } else {
        result.unicodeScalars.append(scalar)
        if !properties.isCaseIgnorable || scalar == "." || scalar == ":" { followsLetter = false }
      }
    }
    return result
  }

  /// Returns the key in snake_case, which is in `memory` or is the key itself, as Foundation's JSONEncoder converts it. It splits
  /// at a capital letter, and before the last capital of several if a small letter follows. Other characters than ASCII stay as
  /// they are.
  static func fromCamelCase(_ key: JSONBytes, into memory: inout JSONScratch) -> JSONBytes {
    var capital = 1
    while capital < key.count, !isCapital(key[capital]) { capital += 1 }
    guard capital < key.count || key.count > 0 && isCapital(key[0]) else { return key }
    let target = memory.memory(key.count * 2)
    // SAFETY: at most two bytes are written for each byte of the key, and the memory has room for all of them.
    var written = 0
    var copied = 0
    func copy(to end: Int) {
      while copied < end {
        let byte = key[copied]
        target[written] = isCapital(byte) ? byte | 0x20 : byte
        written += 1
        copied += 1
      }
    }
    while capital < key.count {
      copy(to: capital)
      target[written] = 0x5F
      written += 1
      var small = capital
      while small < key.count, !isSmall(key[small]) { small += 1 }
      guard small < key.count else { break }
      if small > capital + 1 {
        copy(to: small - 1)
        target[written] = 0x5F
        written += 1
      }
      capital = small + 1
      while capital < key.count, !isCapital(key[capital]) { capital += 1 }
    }
    copy(to: key.count)
    return JSONBytes(start: UnsafePointer(target), count: written)
  }

  private static func isCapital(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 }
  private static func isSmall(_ byte: UInt8) -> Bool { byte &- 0x61 < 26 }
}
