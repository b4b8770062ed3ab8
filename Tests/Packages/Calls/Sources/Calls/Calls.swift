// Calls: code that needs Lupine's trait HTTPTypes.

import LupineEngine
import LupineHTTPTypes

/// Returns the URI that a request in Lupine's types keeps when it is converted to `HTTPRequest` and back.
public func convertedURI(_ text: String) throws -> String {
  let request = EngineRequest(uri: try URI(text))
  return try EngineRequest(.init(request)).uri.description
}
