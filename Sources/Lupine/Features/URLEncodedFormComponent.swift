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

  /// Makes this place keyed if it is empty. Anything else is replaced by the first key that is encoded.
  func becomePairs() {
    if case .empty = content { content = .pairs(URLEncodedFormPairs()) }
  }

  /// Makes this place an array if it is empty. Anything else is replaced by the first element that is encoded.
  func becomeList() {
    if case .empty = content { content = .list([]) }
  }

  /// The place for `key`. What was encoded there before stays until it is replaced: a superclass and its subclass share
  /// their places.
  func child(forKey key: String) -> URLEncodedFormComponent {
    var pairs = URLEncodedFormPairs()
    if case .pairs(let existing) = content { pairs = existing }
    // Emptied so that the pairs have one owner and are changed in place.
    content = .empty
    defer { content = .pairs(pairs) }
    return pairs.component(forKey: key)
  }

  /// The place of the element at that index; a fresh one at the end of the array if there are no more than `index`.
  func element(at index: Int) -> URLEncodedFormComponent {
    var elements: [URLEncodedFormComponent] = []
    if case .list(let existing) = content { elements = existing }
    if index < elements.count { return elements[index] }
    content = .empty
    let element = URLEncodedFormComponent()
    elements.append(element)
    content = .list(elements)
    return element
  }
}

/// Keyed places in the order in which they were first encoded.
struct URLEncodedFormPairs {
  private(set) var elements: [(key: String, component: URLEncodedFormComponent)] = []
  private var positions: [String: Int] = [:]

  /// The place for `key`: the one that is there, or a fresh one.
  mutating func component(forKey key: String) -> URLEncodedFormComponent {
    if let position = positions[key] { return elements[position].component }
    let component = URLEncodedFormComponent()
    positions[key] = elements.count
    elements.append((key, component))
    return component
  }
}
