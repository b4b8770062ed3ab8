// `HTTPHeaders`: an ordered set of header fields whose names are unique without regard to ASCII case (RFC 9110 §5.1).

import LupineEngine
public import LupineURLSession

/// A set of header fields in the order in which they were first added. Each name occurs once.
///
/// Adding a field whose name is already present, in any case, replaces the name's spelling and the value, but keeps the field's
/// position.
public struct HTTPHeaders: Hashable, Sendable {
  private var fields: [HTTPHeader] = []

  /// Creates an empty set of header fields.
  public init() {}

  /// Creates a set of the given header fields. If several fields have the same name, the set contains only the last one, at the
  /// position of the first one.
  public init(_ headers: [HTTPHeader]) {
    fields.reserveCapacity(headers.count)
    headers.forEach { update($0) }
  }

  /// Creates a set of header fields from the given names and values. The fields are sorted by name, because a dictionary is
  /// unordered.
  public init(_ dictionary: [String: String]) {
    self.init(dictionary.sorted { $0.key < $1.key }.map { HTTPHeader(name: $0.key, value: $0.value) })
  }

  /// Creates a set of header fields whose names are known to be unique. Doesn't search for duplicates, because that would be slow
  /// for a long response head.
  init(unique fields: [HTTPHeader]) {
    self.fields = fields
  }

  /// Adds a header field. If the set already has a field with this name in any case, replaces that field.
  public mutating func add(name: String, value: String) {
    update(HTTPHeader(name: name, value: value))
  }

  /// Adds a header field. If the set already has a field with the same name in any case, replaces that field.
  public mutating func add(_ header: HTTPHeader) {
    update(header)
  }

  /// Adds a header field. If the set already has a field with this name in any case, replaces that field.
  public mutating func update(name: String, value: String) {
    update(HTTPHeader(name: name, value: value))
  }

  /// Adds a header field. If the set already has a field with the same name in any case, replaces that field.
  public mutating func update(_ header: HTTPHeader) {
    if let position = position(of: header.name) { fields[position] = header } else { fields.append(header) }
  }

  /// Removes the field with the given name, if there is one. The case of the name is ignored.
  public mutating func remove(name: String) {
    guard let position = position(of: name) else { return }
    fields.remove(at: position)
  }

  /// Sorts the header fields by name without regard to case.
  public mutating func sort() {
    fields.sort { $0.name.lowercased() < $1.name.lowercased() }
  }

  /// Returns a copy of the set whose fields are sorted by name without regard to case.
  public func sorted() -> HTTPHeaders {
    var copy = self
    copy.sort()
    return copy
  }

  /// Returns the value of the field with the given name, or nil if there is no such field. The case of the name is ignored.
  public func value(for name: String) -> String? {
    position(of: name).map { fields[$0].value }
  }

  /// The value of the field with the given name, or nil if there is no such field. The case of the name is ignored. Setting nil
  /// removes the field.
  public subscript(_ name: String) -> String? {
    get { value(for: name) }
    set {
      if let newValue { update(name: name, value: newValue) } else { remove(name: name) }
    }
  }

  /// The header fields as a dictionary of values by name. The dictionary doesn't preserve the order of the fields.
  public var dictionary: [String: String] {
    Dictionary(fields.lazy.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
  }

  private func position(of name: String) -> Int? {
    fields.firstIndex { $0.name.isSameFieldName(as: name) }
  }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  /// Creates a set of header fields from the names and values in the literal, in their order.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { HTTPHeader(name: $0.0, value: $0.1) })
  }
}

extension HTTPHeaders: ExpressibleByArrayLiteral {
  /// Creates a set of the header fields in the literal, in their order.
  public init(arrayLiteral elements: HTTPHeader...) {
    self.init(elements)
  }
}

extension HTTPHeaders: Collection {
  /// Returns an iterator over the header fields in order.
  public func makeIterator() -> IndexingIterator<[HTTPHeader]> { fields.makeIterator() }

  /// The position of the first header field.
  public var startIndex: Int { fields.startIndex }

  /// The position after the last header field.
  public var endIndex: Int { fields.endIndex }

  /// The header field at `position`, which must be valid.
  public subscript(position: Int) -> HTTPHeader { fields[position] }

  /// Returns the position after `i`, which must be the position of a header field.
  public func index(after i: Int) -> Int { fields.index(after: i) }
}

extension HTTPHeaders: CustomStringConvertible {
  /// The header fields as `name: value` lines.
  public var description: String {
    fields.map(\.description).joined(separator: "\n")
  }
}

extension HTTPHeaders {
  /// Creates a set of header fields from `fields`, in which each name must occur only once.
  init(_ fields: Fields) {
    self.init(unique: fields.map { HTTPHeader(name: $0.name, value: $0.value) })
  }

  /// The header fields as a `Fields` value, the form in which the engine sends them.
  var section: Fields {
    var section = Fields()
    for field in fields { section.append(name: field.name, value: field.value) }
    return section
  }
}

extension URLRequest {
  /// The request's header fields in the order in which they will be sent.
  public var headers: HTTPHeaders {
    get { HTTPHeaders(fields) }
    set { fields = newValue.section }
  }
}

extension HTTPURLResponse {
  /// The response's header fields in the order in which they were received. The values of a repeated name are joined with ", ".
  public var headers: HTTPHeaders {
    HTTPHeaders(unique: joinedFields.map { HTTPHeader(name: $0.name, value: $0.value) })
  }
}

extension URLSessionConfiguration {
  /// The fields of `httpAdditionalHeaders` in the order in which they are sent. Empty by default.
  public var headers: HTTPHeaders {
    get { additionalFields.map(HTTPHeaders.init) ?? HTTPHeaders() }
    set { additionalFields = newValue.section }
  }
}
