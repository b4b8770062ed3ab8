// Fields+Lines: a field section from names and values, which may repeat a name.

import LupineEngine

extension Fields {
  init(_ lines: [(String, String)]) {
    self.init()
    for (name, value) in lines { append(name: name, value: value) }
  }
}
