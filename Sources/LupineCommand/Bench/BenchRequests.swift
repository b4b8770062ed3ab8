// BenchRequests: the requests that `lupine bench` sends: of its URL, of a file, or of an HTTP archive.

#if Bench
  import LupineBench
  import LupineEngine
  import LupineJSON

  /// One request of a load test, with placeholders such as `{{id}}` that a row of the feed fills.
  struct RequestTemplate: Decodable {
    var name: String?
    var method: String?
    var url: String
    var fields: [String: String]?
    var body: String?
    var weight: Int?

    /// The placeholders of the template, in any order.
    var placeholders: Set<String> {
      let texts = [url, body ?? ""] + (fields ?? [:]).flatMap { [$0.key, $0.value] }
      return texts.reduce(into: []) { $0.formUnion(Self.placeholders(in: $1)) }
    }

    private static func placeholders(in text: String) -> [String] {
      text.split(separator: "{{", omittingEmptySubsequences: false).dropFirst().compactMap { part in
        part.firstRange(of: "}}").map { String(part[..<$0.lowerBound]) }
      }
    }

    /// Returns the template with its placeholders replaced by the values of a row.
    func filled(with row: [String: String]) -> RequestTemplate {
      func fill(_ text: String) -> String {
        row.reduce(text) { $0.contains("{{") ? $0.replacing("{{\($1.key)}}", with: $1.value) : $0 }
      }
      var filled = self
      filled.url = fill(url)
      filled.body = body.map(fill)
      filled.fields = fields.map { Dictionary($0.map { (fill($0.key), fill($0.value)) }) { $1 } }
      return filled
    }

    /// Returns the request, with the fields and settings of `base` unless the template has others. If it opens a WebSocket, its URL
    /// may have the scheme ws or wss.
    func request(_ base: EngineRequest, opensWebSocket: Bool) throws(CommandError) -> EngineRequest {
      var request = base
      request.uri = try OptionParser.uri(opensWebSocket ? OptionParser.httpForm(url) : url)
      if let method { request.method = method }
      for (name, value) in fields ?? [:] {
        request.fields.remove(name)
        request.fields.append(name: name, value: value)
      }
      if let body {
        request.body = RequestBody(body)
        if self.method == nil, base.method == "GET" { request.method = "POST" }
      }
      return request
    }
  }

  /// An HTTP archive (HAR 1.2), as far as its requests need it.
  private struct Archive: Decodable {
    struct Log: Decodable { let entries: [Entry] }
    struct Entry: Decodable { let request: Request }
    struct Request: Decodable {
      struct Field: Decodable {
        let name: String
        let value: String
      }
      struct Content: Decodable { let text: String? }

      let method: String
      let url: String
      let headers: [Field]
      let postData: Content?
    }

    let log: Log
  }

  /// The requests of a test, as the options describe them.
  struct BenchRequests {
    /// The fields of an archive that the engine or the connection determines.
    private static let ownFields: Set<String> = [
      "host", "content-length", "connection", "transfer-encoding", "accept-encoding", "keep-alive", "upgrade",
    ]

    private let options: BenchOptions
    private let base: EngineRequest
    private let login: RunAuthentication
    /// The content of the files of requests, which may be standard input and are therefore read once.
    private var templates: [RequestTemplate] = []
    private let rows: [[String: String]]

    init(_ options: BenchOptions, _ base: EngineRequest, _ login: RunAuthentication) throws(CommandError) {
      (self.options, self.base, self.login) = (options, base, login)
      rows = try options.feedPath.map { path throws(CommandError) in try Self.feed(path) } ?? []
      if let path = options.requestsPath { templates += try Self.lines(path) }
      if let path = options.archivePath { templates += try Self.archive(path) }
    }

    /// Returns the scenarios of a test. The login is sent to the origin of the first request, and of a file only there.
    func scenarios(on engine: Engine) throws(CommandError) -> [Scenario] {
      if templates.isEmpty {
        let request = try prepared(base, login, engine)
        return [scenario(request.method, 1, engine) { _ in request }]
      }
      // Requests with the same name are one scenario, whose requests are sent in turn.
      var groups: [(name: String, weight: Int, templates: [RequestTemplate])] = []
      for template in templates {
        let name = template.name ?? "\(template.method ?? base.method) \(template.url)"
        if let index = groups.firstIndex(where: { $0.name == name }) {
          groups[index].templates.append(template)
        } else {
          groups.append((name, template.weight ?? 1, [template]))
        }
      }
      var scenarios: [Scenario] = []
      var first: Origin?
      for group in groups {
        guard group.weight >= 1 else { throw .benchUsage("the weight of \"\(group.name)\" must be at least 1") }
        // Each combination of a template and a row is prepared before the test, so that no request is invalid during it.
        var requests: [EngineRequest] = []
        for request in try filled(group.templates, of: group.name) {
          first = first ?? request.uri.origin
          requests.append(try prepared(request, request.uri.origin == first ? login : nil, engine))
        }
        scenarios.append(scenario(group.name, group.weight, engine) { [requests] in requests[$0 % requests.count] })
      }
      return scenarios
    }

    /// Returns the requests of templates, with each row if they have placeholders.
    private func filled(_ templates: [RequestTemplate], of name: String) throws(CommandError) -> [EngineRequest] {
      let opensWebSockets = options.streams == .webSocket
      var requests: [EngineRequest] = []
      for template in templates {
        let placeholders = template.placeholders
        guard !placeholders.isEmpty else {
          requests.append(try template.request(base, opensWebSocket: opensWebSockets))
          continue
        }
        if let missing = placeholders.first(where: { rows.first?[$0] == nil }) {
          throw .benchUsage("\"\(name)\" contains {{\(missing)}}, which is no column of --feed")
        }
        for row in rows {
          requests.append(try template.filled(with: row).request(base, opensWebSocket: opensWebSockets))
        }
      }
      return requests
    }

    private func scenario(
      _ name: String, _ weight: Int, _ engine: Engine, request: @escaping @Sendable (Int) -> EngineRequest
    ) -> Scenario {
      guard let format = options.streamFormat else {
        return Scenario(name, weight: weight, on: engine, request: request)
      }
      return Scenario(name, weight: weight, streaming: format, holding: options.hold, on: engine, request: request)
    }

    /// Returns the request as it is sent: with its login, if any, and with the field that closes its connection afterward if each
    /// request needs a new one.
    private func prepared(
      _ request: EngineRequest, _ login: RunAuthentication?, _ engine: Engine
    ) throws(CommandError) -> EngineRequest {
      let proxy = engine.proxy(for: request)
      var prepared =
        try login.map { login throws(CommandError) in
          try login.prepare(login.begin(request, via: proxy), via: proxy)
        } ?? request
      if options.opensConnections { prepared.fields.append(name: "Connection", value: "close") }
      return prepared
    }

    // MARK: Files

    private static func lines(_ path: String) throws(CommandError) -> [RequestTemplate] {
      var templates: [RequestTemplate] = []
      let lines = try InputFile.contents(of: path).split(
        separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() where line.contains(where: { $0 > 0x20 }) {
        guard let template = decode(RequestTemplate.self, Array(line)) else {
          throw CommandError(
            .unreadableInput,
            "line \(index + 1) of \(path) isn't a JSON object with a url, such as {\"url\": \"http://…\"}")
        }
        templates.append(template)
      }
      guard !templates.isEmpty else { throw CommandError(.unreadableInput, "\(path) contains no request") }
      return templates
    }

    private static func archive(_ path: String) throws(CommandError) -> [RequestTemplate] {
      guard let archive = decode(Archive.self, try InputFile.contents(of: path)) else {
        throw CommandError(.unreadableInput, "\(path) isn't an HTTP archive (HAR 1.2)")
      }
      return archive.log.entries.map { entry in
        let fields = entry.request.headers.filter {
          !$0.name.hasPrefix(":") && !ownFields.contains($0.name.lowercased())
        }
        return RequestTemplate(
          method: entry.request.method, url: entry.request.url,
          fields: Dictionary(fields.map { ($0.name, $0.value) }) { "\($0), \($1)" }, body: entry.request.postData?.text)
      }
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) -> Value? {
      (try? JSONDecoding.decode(type, from: bytes.span, JSONDecodingOptions())) ?? nil
    }

    /// Reads a CSV file (RFC 4180) whose first line names the columns.
    private static func feed(_ path: String) throws(CommandError) -> [[String: String]] {
      var records = CSV.records(String(decoding: try InputFile.contents(of: path), as: UTF8.self))
      guard records.count > 1 else {
        throw CommandError(
          .unreadableInput, "\(path) needs a line with the names of its columns, and a line with values")
      }
      let names = records.removeFirst()
      return records.map { Dictionary(zip(names, $0)) { $1 } }
    }
  }

  enum CSV {
    /// Splits CSV (RFC 4180) into records of fields. A field in quotation marks may contain commas, line breaks and doubled quotation
    /// marks.
    static func records(_ text: String) -> [[String]] {
      var (records, record, field, isQuoted) = ([[String]](), [String](), "", false)
      var rest = text.unicodeScalars.makeIterator()
      var next = rest.next()
      func isEmpty() -> Bool { record.isEmpty && field.isEmpty }
      while let scalar = next {
        next = rest.next()
        switch (scalar, isQuoted) {
        case ("\"", true) where next == "\"":
          field.append("\"")
          next = rest.next()
        case ("\"", _): isQuoted.toggle()
        case (",", false):
          record.append(field)
          field = ""
        case ("\r", false) where next == "\n": break
        case ("\n", false):
          if !isEmpty() { records.append(record + [field]) }
          (record, field) = ([], "")
        default: field.unicodeScalars.append(scalar)
        }
      }
      if !isEmpty() { records.append(record + [field]) }
      return records
    }
  }
#endif
