// KeepAliveField: the limits that a server announces for an idle connection (RFC 2068 §19.7.1.1).

/// The limits in a response's Keep-Alive field lines. The field only shortens the life of a connection, and never extends it.
///
/// HTTP/1.1 doesn't define the field any more, but servers such as Apache and Node send it.
struct KeepAliveField {
  /// The lowest valid value of `timeout`: the number of seconds after which the server closes the idle connection. Nil if there is
  /// none.
  private(set) var seconds: UInt64?
  /// Whether the field permits no further request on the connection: `timeout=0` or `max=0`.
  private(set) var refusesReuse = false

  // Keep-Alive = #keepalive-param; keepalive-param = param-name "=" value
  //
  // White space around "=" is permitted (RFC 2068 §2.1). Unknown parameters, and values that aren't numbers, are ignored.
  mutating func read(_ value: Range<UInt32>, of fields: Fields) {
    fields.forEachElement(of: value) { parameter in
      guard let (name, text) = fields.split(parameter, at: Byte.equals) else { return }
      let isTimeout = fields.matches(name, "timeout")
      guard isTimeout || fields.matches(name, "max") else { return }
      guard let number = Digits.value(of: fields.content(text)) else { return }
      if number == 0 { refusesReuse = true }
      if isTimeout { seconds = min(seconds ?? number, number) }
    }
  }
}
