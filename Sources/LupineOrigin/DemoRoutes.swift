// DemoRoutes: the paths that the demo's server serves. Tests that need no special server use them too.

internal import LupineCoding
internal import LupineWire

/// Serves the paths that the demo requests, regardless of the request's method.
package enum DemoRoutes {
  /// Returns the reply to a request for one of these paths, or a 404 for any other path:
  ///
  /// - `/json`: a small JSON document. `/gzip`, `/deflate`, `/br`: the same document with that content coding.
  /// - `/echo`, `/form`, `/json-echo`: a JSON description of the request.
  /// - `/stream`: five lines of JSON, each in a chunk. `/big?bytes=N`: N bytes of `Pattern`.
  /// - `/redirect`: 302 to `/json`. `/redirect-other?to=URL`: 302 to that URL.
  /// - `/status/N`: the status N, 200 to 599. `/slow`: no reply until the client closes the connection.
  package static func reply(to request: ReceivedRequest) -> Reply {
    let path = request.path
    return switch path {
    case "/json": .json(document)
    case "/gzip": .json(document, coding: .gzip)
    case "/deflate": .json(document, coding: .deflate)
    case "/br": .json(document, coding: .brotli)
    case "/echo", "/form", "/json-echo": .json(echo(request))
    case "/stream": Reply(fields: ["Content-Type": "application/x-ndjson"], .chunks(streamed, pause: streamPause))
    case "/big": big(request)
    case "/redirect": redirect(to: "/json")
    case "/redirect-other": request.query("to").map(redirect) ?? refuse("a query item \"to\" with a URL")
    case "/slow": .hold
    case _ where path.hasPrefix("/status/"): status(path.dropFirst("/status/".count))
    default: .json(["error": "not found", "path": .string(path)], status: 404)
    }
  }

  private static let document: JSONValue = [
    "name": "lupine",
    "family": "Fabaceae",
    "species": 200,
    "perennial": true,
    "colours": ["blue", "violet", "white"],
  ]

  private static let streamed = (1...5).map { number in
    Array("\(JSONValue.object([("chunk", .number(number)), ("of", 5)]))\n".utf8)
  }

  /// The pause between two chunks of `/stream`: 20 ms. It is long enough for the chunks to arrive separately, and short enough for
  /// a test.
  private static let streamPause = Duration.milliseconds(20)

  private static func echo(_ request: ReceivedRequest) -> JSONValue {
    var names: [String] = []
    for field in request.fields where !names.contains(field.name) { names.append(field.name) }
    var members: [(String, JSONValue)] = [
      ("method", .string(request.method)),
      ("path", .string(request.path)),
      ("query", object(request.query)),
      ("headers", .object(names.map { ($0, .string(request.fields.list($0) ?? "")) })),
    ]
    if request.fields.first("content-type")?.hasPrefix("application/x-www-form-urlencoded") == true {
      members.append(("form", object(request.form)))
    }
    members.append(("body", .string(String(decoding: request.body, as: UTF8.self))))
    members.append(("bodyBytes", .number(request.body.count)))
    return .object(members)
  }

  /// Returns a JSON object with one member for each name in `items`. The values of a repeated name are collected in an array.
  private static func object(_ items: [ReceivedRequest.Item]) -> JSONValue {
    var names: [String] = []
    var values: [String: [JSONValue]] = [:]
    for item in items {
      if values[item.name] == nil { names.append(item.name) }
      values[item.name, default: []].append(.string(item.value))
    }
    return .object(
      names.map { name in
        let values = values[name, default: []]
        return (name, values.count == 1 ? values[0] : .array(values))
      })
  }

  private static func big(_ request: ReceivedRequest) -> Reply {
    guard let byteCount = request.query("bytes").flatMap({ UInt64($0) }) else {
      return refuse("a query item \"bytes\" with a number")
    }
    return Reply(fields: ["Content-Type": "application/octet-stream"], .pattern(byteCount: byteCount))
  }

  private static func redirect(to location: String) -> Reply {
    // A line end in the client's value would end the Location field, and the client could add fields to the response.
    guard !location.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      return refuse("a URL without control characters")
    }
    return Reply(status: 302, fields: ["Location": location])
  }

  private static func status(_ text: Substring) -> Reply {
    guard let status = Int(text), 200...599 ~= status else { return refuse("a status from 200 to 599") }
    return .json(["status": .number(status)], status: status)
  }

  private static func refuse(_ expected: String) -> Reply {
    .json(["error": .string("This path needs \(expected).")], status: 400)
  }
}
