// Sends requests to the server at the URL's host, through the conformance, and prints the responses.

import BasicContainers
import Conformance
import ContainersPreview
import HTTPAPIs
import LupineEngine

struct Refusal: Error {}

/// Returns the status, the body and the trailers of a response.
func text(_ response: HTTPResponse, _ reader: consuming Engine.Reader) async throws -> String {
  var reader = reader
  var bytes: [UInt8] = []
  while true {
    let end = try await reader.read {
      (buffer: inout UniqueArray<UInt8>, end: consuming HTTPFields??) async throws(Never) -> HTTPFields?? in
      bytes += buffer.items
      buffer.items = []
      return end
    }
    guard let end else { continue }
    return "\(response.status.code) \(String(decoding: bytes, as: UTF8.self)), \(end?.count ?? 0) trailers"
  }
}

func body(knownLength: Int64?, trailers: HTTPFields?) -> HTTPClientRequestBody<Engine.Writer> {
  .restartable(knownLength: knownLength) { writer in
    var writer = writer
    var buffer = UniqueArray(Array("hello ".utf8))
    try await writer.write(buffer: &buffer)
    precondition(buffer.count == 0)
    buffer.items = Array("world".utf8)
    try await writer.finish(buffer: &buffer, finalElement: trailers)
  }
}

let engine = try Engine()
let options = engine.defaultRequestOptions
var request = HTTPRequest(method: .post, scheme: "http", authority: CommandLine.arguments[1], path: "/")
for path in ["/", "/redirect"] {
  request.path = path
  let length = body(knownLength: 11, trailers: nil)
  print(try await engine.perform(request: request, body: length, options: options, responseHandler: text))
}
request.headerFields[.trailer] = "ETag, X-Other"
let announced = body(knownLength: nil, trailers: [.eTag: "7"])
print(try await engine.perform(request: request, body: announced, options: options, responseHandler: text))
request.headerFields[.trailer] = nil
do {
  print(try await engine.perform(request: request, body: announced, options: options, responseHandler: text))
} catch let error as EngineError {
  print(error.code)
}
request.method = .get
print(try await engine.perform(request: request, body: nil, options: options) { response, _ in response.status.code })
do {
  try await engine.perform(request: request, body: nil, options: options) { _, _ in throw Refusal() }
} catch is Refusal {
  print("the handler's error")
}
