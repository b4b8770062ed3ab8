// Fields+Dictionary: converts field sections to and from the dictionaries of Foundation's API.

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
}
