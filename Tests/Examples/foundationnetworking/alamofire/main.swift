// A program for Alamofire that also imports FoundationNetworking, as programs for Linux do.

import Alamofire
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct Reply: Decodable, Sendable {
  let args: [String: String]
}

struct Route: URLRequestConvertible {
  func asURLRequest() throws -> URLRequest {
    guard let url = URL(string: CommandLine.arguments[1] + "/get?by=alamofire") else { throw URLError(.badURL) }
    return URLRequest(url: url)
  }
}

let configuration = URLSessionConfiguration.af.default
configuration.timeoutIntervalForRequest = 30
let session = Session(configuration: configuration)
let response = await session.request(Route()).validate().serializingDecodable(Reply.self).response
let head: HTTPURLResponse? = response.response
print(head?.statusCode ?? 0, try response.result.get().args)
