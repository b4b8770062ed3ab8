// FreshenedResponse: updates a stored response's fields from a 304 or a response to HEAD (RFC 9111 §3.2).

internal import LupineWire

extension StoredResponse {
  /// The fields that are never updated: they describe the stored bytes, which don't change.
  private static let bodyFieldNames: Set<String> = ["content-length", "content-encoding", "content-range"]

  /// Returns the response with the fields and times of the new exchange. The result is `.remove` if the new fields have no-store,
  /// or if the response can no longer be selected by the request's fields.
  func freshened(by fields: Fields, to request: CacheRequest, times: ExchangeTimes) -> StoredUpdate.Change {
    let new = fields.storable(receivedAt: times.response)
    var merged = self.fields
    // These fields describe the earlier message. An Age that remained would be counted again.
    merged.remove("Age")
    let updated = new.indices.filter { !Self.bodyFieldNames.contains(new[$0].name.lowercased()) }
    for position in updated { merged.remove(new[position].name) }
    for position in updated { merged.append(name: new[position].name, valueBytes: new.valueBytes(at: position)) }

    let directives = CacheControl(merged)
    guard !directives.flags.contains(.noStore) || directives.flags.contains(.mustUnderstand),
      let selecting = selectingFields(after: merged, to: request)
    else { return .remove }
    // A response obtained with a session's credentials belongs to that session.
    let partition = partition == .anonymous ? request.partition(of: new) : partition
    return .replace(
      StoredResponse(
        status: status, fields: merged, times: times, partition: partition,
        selectingFields: selecting, bodyForm: bodyForm, bodyByteCount: bodyByteCount))
  }

  /// Returns the fields that select the response with its new Vary, or nil if their values are unknown.
  private func selectingFields(after merged: Fields, to request: CacheRequest) -> SelectingFields? {
    guard let new = try? SelectingFields(vary: merged, of: request.fields) else { return nil }
    if selectingFields.match(request.fields) { return new }
    // The origin has chosen this variant for a request with other values. The values of the first request still select it, but
    // its values of newly named fields are unknown.
    return new.selectors.map(\.name) == selectingFields.selectors.map(\.name) ? selectingFields : nil
  }
}
