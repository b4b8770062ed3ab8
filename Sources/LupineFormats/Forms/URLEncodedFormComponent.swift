// `URLEncodedFormComponent`: the tree into which an Encodable value is encoded, before it becomes key=value pairs.

/// A node of the tree that represents a form. This type is a class, because a nested container may still add values to its node
/// after the parent's `encode(to:)` has returned.
final class URLEncodedFormComponent {
  /// The content of a node: a single value, the elements of an array, or children with keys.
  enum Content {
    /// No value was encoded. Or nil was encoded, and the options specify that nil is omitted together with its key.
    case empty
    case text(String)
    case list([URLEncodedFormComponent])
    case pairs(URLEncodedFormPairs)
  }

  private(set) var content = Content.empty

  func set(_ text: String) {
    content = .text(text)
  }

  /// Turns this node into a keyed node if it is empty. Otherwise, its content remains until the first key is encoded.
  func becomePairs() {
    if case .empty = content { content = .pairs(URLEncodedFormPairs()) }
  }

  /// Turns this node into an array node if it is empty. Otherwise, its content remains until the first element is encoded.
  func becomeList() {
    if case .empty = content { content = .list([]) }
  }

  /// Returns the child node for `key`, and creates the node if necessary. Existing children remain, because a superclass and its
  /// subclass encode their properties into the same node.
  func child(forKey key: String) -> URLEncodedFormComponent {
    var pairs = URLEncodedFormPairs()
    if case .pairs(let existing) = content { pairs = existing }
    // Sets the content to empty first, so that the pairs have a single owner and are changed in place.
    content = .empty
    defer { content = .pairs(pairs) }
    return pairs.component(forKey: key)
  }

  /// Returns the child node for the array element at `index`. If there is no such element, appends a new node to the array.
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

/// The children of a keyed node, in the order in which their keys were first encoded.
struct URLEncodedFormPairs {
  private(set) var elements: [(key: String, component: URLEncodedFormComponent)] = []
  private var positions: [String: Int] = [:]

  /// Returns the child node for `key`, and creates the node if necessary.
  mutating func component(forKey key: String) -> URLEncodedFormComponent {
    if let position = positions[key] { return elements[position].component }
    let component = URLEncodedFormComponent()
    positions[key] = elements.count
    elements.append((key, component))
    return component
  }
}
