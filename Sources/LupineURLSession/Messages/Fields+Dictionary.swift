// Fields+Dictionary: field sections as the dictionaries of Foundation's API.

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
