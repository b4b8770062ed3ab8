// An ordered set of header fields whose names are unique without regard to ASCII case (RFC 9110 §5.1).

import LupineEngine
public import LupineURLSession

/// Header fields in the order in which they were first added, each name once.
///
/// Adding a name that is there already, in any case, replaces the spelling and the value where the field stands.
public struct HTTPHeaders: Hashable, Sendable {
  private var fields: [HTTPHeader] = []

  /// No fields.
  public init() {}

  /// The given fields in their order; of fields with the same name the last one wins, in the first one's place.
  public init(_ headers: [HTTPHeader]) {
    fields.reserveCapacity(headers.count)
    headers.forEach { update($0) }
  }

  /// The given names and values, ordered by name, since a dictionary has no order of its own.
  public init(_ dictionary: [String: String]) {
    self.init(dictionary.sorted { $0.key < $1.key }.map { HTTPHeader(name: $0.key, value: $0.value) })
  }

  /// Fields that are known to be unique, so that a long response section costs no comparisons.
  init(unique fields: [HTTPHeader]) {
    self.fields = fields
  }

  /// Adds a field or replaces the one of the same name.
  public mutating func add(name: String, value: String) {
    update(HTTPHeader(name: name, value: value))
  }

  /// Adds a field or replaces the one of the same name.
  public mutating func add(_ header: HTTPHeader) {
    update(header)
  }

  /// Adds a field or replaces the one of the same name.
  public mutating func update(name: String, value: String) {
    update(HTTPHeader(name: name, value: value))
  }

  /// Adds a field or replaces the one of the same name.
  public mutating func update(_ header: HTTPHeader) {
    guard let position = position(of: header.name) else {
      fields.append(header)
      return
    }
    fields[position] = header
  }

  /// Removes the field of that name, if there is one.
  public mutating func remove(name: String) {
    guard let position = position(of: name) else { return }
    fields.remove(at: position)
  }

  /// Orders the fields by name without regard to case.
  public mutating func sort() {
    fields.sort { $0.name.lowercased() < $1.name.lowercased() }
  }

  /// A copy that is ordered by name without regard to case.
  public func sorted() -> HTTPHeaders {
    var copy = self
    copy.sort()
    return copy
  }

  /// The value of the field of that name, or nil if there is none.
  public func value(for name: String) -> String? {
    position(of: name).map { fields[$0].value }
  }

  /// The value of the field of that name; setting nil removes the field.
  public subscript(_ name: String) -> String? {
    get { value(for: name) }
    set {
      if let newValue {
        update(name: name, value: newValue)
      } else {
        remove(name: name)
      }
    }
  }

  /// The fields as a dictionary, without their order.
  public var dictionary: [String: String] {
    Dictionary(fields.lazy.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
  }

  private func position(of name: String) -> Int? {
    fields.firstIndex { $0.name.isSameFieldName(as: name) }
  }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  /// The names and values in the order in which they are written.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { HTTPHeader(name: $0.0, value: $0.1) })
  }
}

extension HTTPHeaders: ExpressibleByArrayLiteral {
  /// The fields in the order in which they are written.
  public init(arrayLiteral elements: HTTPHeader...) {
    self.init(elements)
  }
}

extension HTTPHeaders: Collection {
  /// Iterates over the fields in order.
  public func makeIterator() -> IndexingIterator<[HTTPHeader]> {
    fields.makeIterator()
  }

  /// The position of the first field.
  public var startIndex: Int {
    fields.startIndex
  }

  /// The position after the last field.
  public var endIndex: Int {
    fields.endIndex
  }

  /// The field at a position, which must be a valid index.
  public subscript(position: Int) -> HTTPHeader {
    fields[position]
  }

  /// The position after the given one.
  public func index(after i: Int) -> Int {
    fields.index(after: i)
  }
}

extension HTTPHeaders: CustomStringConvertible {
  /// One `name: value` line for each field.
  public var description: String {
    fields.map(\.description).joined(separator: "\n")
  }
}

extension HTTPHeaders {
  /// Creates the fields of a section in which each name occurs once.
  init(_ fields: Fields) {
    self.init(unique: fields.map { HTTPHeader(name: $0.name, value: $0.value) })
  }

  /// The fields as the engine sends them.
  var section: Fields {
    var section = Fields()
    for field in fields { section.append(name: field.name, value: field.value) }
    return section
  }
}

extension URLRequest {
  /// The header fields in the order in which they will be sent.
  public var headers: HTTPHeaders {
    get { HTTPHeaders(fields) }
    set { fields = newValue.section }
  }
}

extension HTTPURLResponse {
  /// The header fields in the order in which they were received. The values of a repeated name are joined with ", ".
  public var headers: HTTPHeaders {
    HTTPHeaders(unique: joinedFields.map { HTTPHeader(name: $0.name, value: $0.value) })
  }
}

extension URLSessionConfiguration {
  /// The fields of `httpAdditionalHeaders` in the order in which they are sent; empty by default.
  public var headers: HTTPHeaders {
    get { additionalFields.map(HTTPHeaders.init) ?? HTTPHeaders() }
    set { additionalFields = newValue.section }
  }
}
