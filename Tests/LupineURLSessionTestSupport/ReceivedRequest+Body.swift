// ReceivedRequest+Body: a server's reports of the request bodies that it has received.

import Foundation
import LupineEngine
import LupineOrigin

extension ReceivedRequest {
  /// A description of the received request, such as "POST chunked 5 true": the method, the Content-Length or transfer coding,
  /// the body's length, and whether the body consists of the pattern's first bytes.
  var bodyReport: String {
    let framing = fields.first("Content-Length") ?? fields.first("Transfer-Encoding") ?? "none"
    return "\(method) \(framing) \(body.count) \(Data(body) == Pattern.data(body.count))"
  }

  /// A reply whose body is `bodyReport`. A path such as `/307` is redirected to `/` with that status code, and `/401` requires
  /// Basic authentication.
  var uploadReply: Reply {
    if let status = Int(path.dropFirst()), (300..<400).contains(status) {
      return Reply(status: status, fields: ["Location": "/"])
    }
    if path == "/401", !fields.contains("Authorization") {
      return Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
    }
    return .text(bodyReport)
  }
}
