// The options as a request for the engine. Files that are sent are opened here, before anything goes out.

import LupineEngine

extension EngineRequest {
  /// Makes the first request of a transfer. Throws if a file that is to be sent can't be read.
  init(_ options: Options, to uri: URI) throws(CommandError) {
    let payload = try Content(options.payload)
    var fields: Fields = ["User-Agent": "lupine/\(Help.version)", "Accept": payload.accept]
    if !options.isRaw { fields.append(name: "Accept-Encoding", value: "br, gzip, deflate") }
    if let type = payload.type { fields.append(name: "Content-Type", value: type) }
    for edit in options.fieldEdits { fields.remove(edit.name) }
    for case .add(let name, let value) in options.fieldEdits {
      let isType = name.lowercased() == "content-type"
      fields.append(name: name, value: isType ? payload.withBoundary(value) : value)
    }

    self.init(
      method: options.method ?? options.payload.method, uri: uri, fields: fields, body: payload.body,
      timeouts: Timeouts(options))
    bodyCoding = options.bodyCoding
    decodesContent = !options.isRaw
    // Basic credentials of the URL are a default too.
    for case .remove(let name) in options.fieldEdits where name.lowercased() == "authorization" {
      self.fields.remove(name)
    }
  }
}

extension Timeouts {
  // As in curl, an open connection may be as slow as it likes: somebody watches.
  fileprivate init(_ options: Options) {
    self.init()
    (send, firstByte, idle) = (nil, nil, nil)
    if let limit = options.connectTimeout { (resolve, connect, proxy, tls) = (limit, limit, limit, limit) }
    if let limit = options.continueTimeout { awaitContinue = limit }
    total = options.maxTime
  }
}

/// A payload as it is sent, and what the fields say of it.
private struct Content {
  var body = RequestBody()
  var type: String?
  var accept = "*/*"
  var boundary: String?

  init(_ payload: Options.Payload) throws(CommandError) {
    switch payload {
    case .none: break
    case .data(let texts):
      var bytes: [UInt8] = []
      for (index, text) in texts.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: "&")) }
        // As in curl; line ends and NUL are never meant in a form's data.
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
    case .upload(let path): body = try InputFile.body(path)
    }
  }

  /// A form can't be read without its boundary, whichever type the caller gives it.
  func withBoundary(_ type: String) -> String {
    boundary.map { "\(type); boundary=\($0)" } ?? type
  }

  // "@file", filtered, or the text itself.
  private static func read(_ text: String, keeping isKept: (UInt8) -> Bool) throws(CommandError) -> [UInt8] {
    guard text.utf8.first == UInt8(ascii: "@") else { return Array(text.utf8) }
    return try InputFile.contents(of: String(text.utf8.dropFirst()) ?? "").filter(isKept)
  }
}
