// The tree that an Encodable value writes itself into, before it is turned into key=value pairs.

/// A place in the tree of a form. A reference, because a nested container fills it after its parent was left.
final class URLEncodedFormComponent {
  /// What the place holds.
  enum Content {
    /// Nothing was encoded, or a `nil` whose key is dropped.
    case empty
    case text(String)
    case list([URLEncodedFormComponent])
    case pairs(URLEncodedFormPairs)
  }

  private(set) var content = Content.empty

  /// Makes this place a value.
  func set(_ text: String) {
    content = .text(text)
  }

  /// Makes this place keyed. Pairs that are there already stay: a superclass and its subclass share them.
  func becomePairs() {
    if case .pairs = content { return }
    content = .pairs(URLEncodedFormPairs())
  }

  /// Makes this place an array. Elements that are there already stay.
  func becomeList() {
    if case .list = content { return }
    content = .list([])
  }

  /// How many elements were encoded; 0 unless this place is an array.
  var elementCount: Int {
    if case .list(let elements) = content { elements.count } else { 0 }
  }

  /// A fresh place for `key`, which replaces what was encoded under the same key before.
  func makeChild(forKey key: String) -> URLEncodedFormComponent {
    let child = URLEncodedFormComponent()
    var pairs = URLEncodedFormPairs()
    if case .pairs(let existing) = content { pairs = existing }
    // Emptied so that the pairs have one owner and are changed in place.
    content = .empty
    pairs.set(child, forKey: key)
    content = .pairs(pairs)
    return child
  }

  /// A fresh place at the end of the array.
  func appendChild() -> URLEncodedFormComponent {
    let child = URLEncodedFormComponent()
    var elements: [URLEncodedFormComponent] = []
    if case .list(let existing) = content { elements = existing }
    content = .empty
    elements.append(child)
    content = .list(elements)
    return child
  }
}

/// Keyed places in the order in which they were first encoded.
struct URLEncodedFormPairs {
  private(set) var elements: [(key: String, component: URLEncodedFormComponent)] = []
  private var positions: [String: Int] = [:]

  /// Puts `component` under `key`, in the position of the one it replaces if there is one.
  mutating func set(_ component: URLEncodedFormComponent, forKey key: String) {
    if let position = positions[key] {
      elements[position].component = component
    } else {
      positions[key] = elements.count
      elements.append((key, component))
    }
  }
}
