// FreshenedResponse: updates a stored response's fields from a 304 or a response to HEAD (RFC 9111 §3.2).

internal import LupineWire

extension StoredResponse {
  /// The names of the fields that a 304 or HEAD response never updates, because they describe the stored body, which doesn't
  /// change.
  private static let bodyFieldNames: Set<String> = [
    "content-length", "content-encoding", "content-range", "content-digest", "content-md5",
  ]

  /// Returns the change that updates the stored response with the fields and times of a 304 or HEAD response. Returns `.remove` if
  /// the updated fields have no-store without must-understand, or if the request fields that select the response are no longer
  /// known.
  func freshened(by fields: Fields, to request: CacheRequest, times: ExchangeTimes) -> StoredUpdate.Change {
    let new = fields.storable(receivedAt: times.response)
    var merged = self.fields
    // The Age field belongs to the earlier exchange. If it weren't removed, it would be counted into the response's age again.
    merged.remove("Age")
    let updated = new.indices.filter { !Self.bodyFieldNames.contains(new[$0].name.lowercased()) }
    for position in updated { merged.remove(new[position].name) }
    for position in updated { merged.append(name: new[position].name, valueBytes: new.valueBytes(at: position)) }

    let directives = CacheControl(merged)
    guard !directives.flags.contains(.noStore) || directives.flags.contains(.mustUnderstand),
      let selecting = selectingFields(after: merged, to: request)
    else { return .remove }
    // If the new request had a session's credentials, or the new response set a cookie, the stored response belongs to that session
    // from now on.
    let partition = partition == .anonymous ? request.partition(of: fields) : partition
    return .replace(
      StoredResponse(
        status: status, fields: merged, times: times, partition: partition,
        selectingFields: selecting, bodyForm: bodyForm, bodyByteCount: bodyByteCount))
  }

  /// Returns the request fields that select the stored response according to its updated Vary, or nil if their values are unknown.
  private func selectingFields(after merged: Fields, to request: CacheRequest) -> SelectingFields? {
    guard let new = try? SelectingFields(vary: merged, of: request) else { return nil }
    if selectingFields.match(request) { return new }
    // The origin has chosen this variant for a request with other values. The values of the original request still select the
    // variant, but its values for newly named fields are unknown.
    return new.selectors.map(\.name) == selectingFields.selectors.map(\.name) ? selectingFields : nil
  }
}
