// What LupineWire does for each request: parsing a head, looking up fields, writing a head, undoing chunks.

import LupineEngine

enum WireBenchmarks {
  static let small = ResponseHeads.all
  static let large = ResponseHeads.large(byteCount: 64 * 1024)

  /// The parser, on all of the heads and on one of nearly 64 KiB, and http-parser on the same bytes if it is there.
  static func heads(_ peer: HTTPParser?) -> [Benchmark] {
    let count = small.reduce(0) { $0 + $1.count }
    var benchmarks = [
      Benchmark(name: "\(small.count) heads", bytes: count) { repeats in
        for _ in 0..<repeats { for head in small { parse(head) } }
      },
      Benchmark(name: "a head of 64 KiB", bytes: large.count) { repeats in
        for _ in 0..<repeats { parse(large) }
      },
    ]
    if let peer {
      benchmarks += [
        Benchmark(name: "\(small.count) heads, http-parser", bytes: count) { repeats in
          for _ in 0..<repeats { for head in small { peer.parse(head, times: 1) } }
        },
        Benchmark(name: "a head of 64 KiB, http-parser", bytes: large.count) { peer.parse(large, times: $0) },
      ]
    }
    return benchmarks
  }

  static func others() -> [Benchmark] {
    [fieldLookup(), serialising(), chunks(of: 16), chunks(of: 8192)]
  }

  // As a connection does it: parsed, and the body's framing found.
  private static func parse(_ bytes: [UInt8]) {
    var connection = ClientConnection(limits: Limits())
    connection.start(method: "GET", closes: false)
    var cursor = 0
    guard case .head(let head, _, _)? = try? connection.receive(bytes.span, at: &cursor), cursor == bytes.count else {
      fatalError("a head wasn't taken: \(String(decoding: bytes, as: UTF8.self))")
    }
    keep(head.status)
  }

  private static func fieldLookup() -> Benchmark {
    let fields = small.map { bytes in
      var connection = ClientConnection(limits: Limits())
      connection.start(method: "GET", closes: false)
      var cursor = 0
      guard case .head(let head, _, _)? = try? connection.receive(bytes.span, at: &cursor) else { return Fields() }
      return head.fields
    }
    return Benchmark(name: "look up 3 fields in each of them") { repeats in
      for _ in 0..<repeats {
        for fields in fields {
          keep(fields.first("Content-Type"))
          keep(fields.first("Location"))
          keep(fields.contains("content-encoding"))
        }
      }
    }
  }

  private static func serialising() -> Benchmark {
    var fields = Fields()
    let lines = [
      ("Host", "api.example.com"), ("User-Agent", "example/4.2 (Linux; x86_64) Lupine/1.0"),
      ("Accept", "application/json"),
      ("Accept-Encoding", "br;q=1.0, gzip;q=0.9, deflate;q=0.8"), ("Accept-Language", "en-GB;q=1.0, de;q=0.9"),
      ("Authorization", "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"),
    ]
    for (name, value) in lines { fields.append(name: name, value: value) }
    let head = RequestHead(method: "GET", target: "/v1/orders?page=2&per_page=50", fields: fields)
    var output: [UInt8] = []
    try? HeadSerializer.append(head, to: &output)
    let count = output.count
    return Benchmark(name: "write a request's head", bytes: count) { repeats in
      for _ in 0..<repeats {
        output.removeAll(keepingCapacity: true)
        try? HeadSerializer.append(head, to: &output)
      }
      keep(output.count)
    }
  }

  private static func chunks(of size: Int) -> Benchmark {
    let content = [UInt8](repeating: 0x61, count: size)
    var body: [UInt8] = []
    for _ in 0..<max(1, 65536 / size) { ChunkedEncoder.append(content.span, to: &body) }
    ChunkedEncoder.appendEnd(to: &body)
    let message = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8) + body
    return Benchmark(name: "64 KiB in chunks of \(size)", bytes: message.count) { repeats in
      for _ in 0..<repeats {
        var connection = ClientConnection(limits: Limits())
        connection.start(method: "GET", closes: false)
        var (cursor, received) = (0, 0)
        reading: while let event = try? connection.receive(message.span, at: &cursor) {
          switch event {
          case .body(let range): received += range.count
          case .end: break reading
          default: break
          }
        }
        precondition(received >= 65536 - size, "a chunked body wasn't taken")
      }
    }
  }
}
