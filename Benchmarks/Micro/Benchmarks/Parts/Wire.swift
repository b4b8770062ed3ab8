// Benchmarks of field lookups, request heads and chunked bodies.

import Benchmark
import LupineEngine
import ResponseHeads

func fields() {
  let fields = ResponseHeads.all.map { ResponseHeads.parse($0).fields }
  Benchmark("look up 3 fields in each of \(fields.count) heads") { benchmark in
    for _ in benchmark.scaledIterations {
      for fields in fields {
        blackHole(fields.first("Content-Type"))
        blackHole(fields.first("Location"))
        blackHole(fields.contains("content-encoding"))
      }
    }
  }
  let head = requestHead()
  Benchmark("write a request's head") { benchmark in
    var output: [UInt8] = []
    for _ in benchmark.scaledIterations {
      output.removeAll(keepingCapacity: true)
      try HeadSerializer.append(head, to: &output)
      blackHole(output.count)
    }
  }
}

private func requestHead() -> RequestHead {
  let lines = [
    ("Host", "api.example.com"), ("User-Agent", "example/4.2 (Linux; x86_64) Lupine/1.0"),
    ("Accept", "application/json"),
    ("Accept-Encoding", "br;q=1.0, gzip;q=0.9, deflate;q=0.8"), ("Accept-Language", "en-GB;q=1.0, de;q=0.9"),
    ("Authorization", "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"),
  ]
  var fields = Fields()
  for (name, value) in lines { fields.append(name: name, value: value) }
  return RequestHead(method: "GET", target: "/v1/orders?page=2&per_page=50", fields: fields)
}

func chunks() {
  for size in [16, 8192] {
    let message = chunkedMessage(size)
    // Each iteration decodes one body. Other benchmarks do their work a thousand times, but small chunks would then take as long as
    // all other benchmarks together.
    let configuration = Benchmark.Configuration(metrics: [.wallClock, .throughput], maxDuration: .seconds(1))
    Benchmark("64 KiB in chunks of \(size)", configuration: configuration) { benchmark in
      for _ in benchmark.scaledIterations { precondition(bodyByteCount(of: message) == 65536, "not all was taken") }
    }
  }
}

private func chunkedMessage(_ chunkByteCount: Int) -> [UInt8] {
  let content = [UInt8](repeating: 0x61, count: chunkByteCount)
  var message = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
  for _ in 0..<65536 / chunkByteCount { ChunkedEncoder.append(content.span, to: &message) }
  ChunkedEncoder.appendEnd(to: &message)
  return message
}

private func bodyByteCount(of message: [UInt8]) -> Int {
  var connection = ClientConnection(limits: Limits())
  connection.start(method: "GET", closes: false)
  var (cursor, received) = (0, 0)
  while let event = try? connection.receive(message.span, at: &cursor) {
    switch event {
    case .body(let range): received += range.count
    case .end: return received
    default: break
    }
  }
  return received
}
