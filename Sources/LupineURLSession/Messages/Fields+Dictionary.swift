// Fields+Dictionary: field sections as the dictionaries of Foundation's API, and the comparison of field names.

package import LupineEngine

extension Fields {
  /// Creates a field line for each key, ordered by key. Of keys that differ only in case, the last one wins.
  package init(_ dictionary: [String: String]) {
    self.init()
    for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) { set(name: name, value: value) }
  }

  /// The field lines as a dictionary. Of lines with the same name, the last one wins.
  package var dictionary: [String: String] {
    Dictionary(map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
  }
}

extension String {
  /// Returns whether two field names are equal: only ASCII letters fold, because names are tokens (RFC 9110 §5.1).
  package func isSameFieldName(as other: String) -> Bool {
    let (left, right) = (utf8, other.utf8)
    return left.count == right.count && left.elementsEqual(right) { $0 == $1 || $0.foldedASCII == $1.foldedASCII }
  }
}

extension UInt8 {
  fileprivate var foldedASCII: UInt8 {
    self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
  }
}
