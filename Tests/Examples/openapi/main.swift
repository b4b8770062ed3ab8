// main: sends requests through LupineTransport to the server whose URL is the argument, and prints the responses.

import Foundation
import HTTPTypes
import LupineEngine
import OpenAPIRuntime

let (chunks, continuation) = AsyncStream<ArraySlice<UInt8>>.makeStream()
for text in ["one ", "two"] { continuation.yield(Array(text.utf8)[...]) }
continuation.finish()

let transport: any ClientTransport = LupineTransport(try Engine())
guard let base = URL(string: CommandLine.arguments[1] + "/base/?ignored") else { fatalError("not a URL") }
for (method, body) in [
  (HTTPRequest.Method.post, HTTPBody(chunks, length: .known(7), iterationBehavior: .single)), (.head, nil), (.get, nil),
] {
  let request = HTTPRequest(method: method, scheme: nil, authority: nil, path: "/items?a=%41")
  let (response, content) = try await transport.send(request, body: body, baseURL: base, operationID: "items")
  var text: String?
  if let content {
    var bytes: [UInt8] = []
    for try await chunk in content { bytes += chunk }
    text = String(decoding: bytes, as: UTF8.self)
  }
  print(response.status.code, text ?? "no body")
}
