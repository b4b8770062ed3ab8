// EngineRequest+Options: converts the options to a request for the engine. It opens files before any request is sent.

import LupineEngine

extension EngineRequest {
  /// Creates the first request of a transfer. Throws a `CommandError` with the code `.unreadableInput` if a file to send can't be
  /// read. `upload` stores the input of the body if the body is streamed.
  init(_ options: Options, to uri: URI, of upload: Upload = Upload()) throws(CommandError) {
    let payload = try Content(options.payload, upload)
    let accept = options.isEventStream ? "text/event-stream" : payload.accept
    var fields: Fields = ["User-Agent": "lupine/\(Help.version)", "Accept": accept]
    if !options.isRaw { fields.append(name: "Accept-Encoding", value: ContentCoding.allNames) }
    if let type = payload.type { fields.append(name: "Content-Type", value: type) }
    for edit in options.fieldEdits { fields.remove(edit.name) }
    for case .add(let name, let value) in options.fieldEdits {
      let isType = name.lowercased() == "content-type"
      fields.append(name: name, value: isType ? payload.withBoundary(value) : value)
    }

    if let seconds = options.maxStale { fields.append(name: "Cache-Control", value: "max-stale=\(seconds)") }

    self.init(
      method: options.method ?? options.payload.method, uri: uri, fields: fields, body: payload.body,
      timeouts: Timeouts(options))
    bodyCoding = options.bodyCoding
    decodesContent = !options.isRaw
    // Credentials in the URL are a default too, which `-H "Authorization:"` removes.
    for case .remove(let name) in options.fieldEdits where name.lowercased() == "authorization" {
      self.fields.remove(name)
    }
  }
}

extension Timeouts {
  // As in curl, an open connection may be arbitrarily slow, because a user watches it.
  fileprivate init(_ options: Options) {
    self.init()
    (send, firstByte, idle) = (nil, nil, nil)
    if let limit = options.connectTimeout { (resolve, connect, proxy, tls) = (limit, limit, limit, limit) }
    if let limit = options.continueTimeout { awaitContinue = limit }
    total = options.maxTime
  }
}

/// The body of a request, with the values of the fields that describe it, such as Content-Type.
private struct Content {
  var body = RequestBody()
  var type: String?
  var accept = "*/*"
  var boundary: String?

  init(_ payload: Options.Payload, _ upload: Upload) throws(CommandError) {
    switch payload {
    case .none: break
    case .data(let texts):
      var bytes: [UInt8] = []
      for (index, text) in texts.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: "&")) }
        // As in curl. Line ends and NUL have no meaning in form data.
        bytes += try Self.read(text) { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
      }
      body = RequestBody(bytes)
      type = "application/x-www-form-urlencoded"
    case .json(let texts):
      var bytes: [UInt8] = []
      for text in texts { bytes += try Self.read(text) { _ in true } }
      body = RequestBody(bytes)
      type = "application/json"
      accept = "application/json"
    case .form(let fields):
      let form = try MultipartForm(fields, boundary: MultipartForm.randomBoundary())
      body = form.body
      boundary = form.boundary
      type = withBoundary("multipart/form-data")
    case .upload(let path): body = try InputFile.body(path, of: upload)
    }
  }

  /// Appends the form's boundary to a media type. Without the boundary, a server can't parse the form.
  func withBoundary(_ type: String) -> String {
    boundary.map { "\(type); boundary=\($0)" } ?? type
  }

  // Returns the bytes of the file for "@file", and otherwise those of the text itself. Omits the bytes for which `isKept` returns
  // false.
  private static func read(_ text: String, keeping isKept: (UInt8) -> Bool) throws(CommandError) -> [UInt8] {
    guard text.utf8.first == UInt8(ascii: "@") else { return Array(text.utf8) }
    return try InputFile.contents(of: String(text.utf8.dropFirst()) ?? "").filter(isKept)
  }
}
