// `URLEncodedFormSerializer`: writes a form's tree as key=value pairs.

/// Converts the tree that represents a form to `key=value` pairs, with the options of `form`.
struct URLEncodedFormSerializer {
  let form: URLEncodedFormEncoder
  let table: PercentEscapeTable

  /// Returns the percent-encoded `key=value` pairs joined by ampersands, or an empty string if the form has no values.
  func serialize(_ pairs: URLEncodedFormPairs) -> String {
    joined(pairs.elements.compactMap { segment(for: $0.component, key: $0.key) }) ?? ""
  }

  /// Returns the `key=value` pairs of a node and its children, joined by ampersands. `key` is the node's complete key. Returns nil
  /// if the node has no values.
  private func segment(for component: URLEncodedFormComponent, key: String) -> String? {
    switch component.content {
    case .empty:
      nil
    case .text(let text):
      "\(escaped(form.keyEncoding.key(key)))=\(escaped(text))"
    case .list(let elements):
      joined(segments(for: elements, key: key))
    case .pairs(let pairs):
      joined(
        pairs.elements.compactMap { element in
          segment(for: element.component, key: key + form.keyPathEncoding.suffix(element.key))
        })
    }
  }

  private func segments(for elements: [URLEncodedFormComponent], key: String) -> [String] {
    var segments: [String] = []
    segments.reserveCapacity(elements.count)
    for element in elements {
      // Elements without a value aren't written, and aren't counted, so that they leave no gap in the indexes.
      let elementKey = form.arrayEncoding.key(key, at: segments.count)
      if let segment = segment(for: element, key: elementKey) { segments.append(segment) }
    }
    return segments
  }

  private func joined(_ segments: [String]) -> String? {
    if segments.count < 2 { return segments.first }
    return (form.alphabetizeKeyValuePairs ? segments.sorted() : segments).joined(separator: "&")
  }

  private func escaped(_ text: String) -> String {
    table.escape(text, spaceAsPlus: form.spaceEncoding == .plusReplaced)
  }
}
