// Fields+Dictionary: converts field sections to and from the dictionaries of Foundation's API, and to and from archives.

import Foundation
package import LupineEngine

extension Fields {
  /// Creates one field line for each key of the dictionary, sorted by key. If several keys differ only in case, only the last of
  /// them is used.
  package init(_ dictionary: [String: String]) {
    self.init()
    for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) { set(name: name, value: value) }
  }

  /// The field lines as a dictionary from names to values. If several lines have the same name, the dictionary has the value of the
  /// last one.
  package var dictionary: [String: String] {
    Dictionary(map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
  }

  /// Decodes archived field lines. Returns nil if the archive doesn't contain any under the key.
  ///
  /// They are archived as an array in which each name is followed by its value, because a name may occur several times, and so that
  /// the order of the lines is preserved.
  init?(_ coder: NSCoder, forKey key: String) {
    let decodedLines = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: key)
    guard let lines = decodedLines as? [String], lines.count.isMultiple(of: 2) else { return nil }
    self.init()
    for index in stride(from: 0, to: lines.count, by: 2) { append(name: lines[index], value: lines[index + 1]) }
  }

  /// Archives the field lines under the key.
  func encode(with coder: NSCoder, forKey key: String) {
    let lines = flatMap { [NSString(string: $0.name), NSString(string: $0.value)] }
    coder.encode(NSArray(array: lines), forKey: key)
  }
}
