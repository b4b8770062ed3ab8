// Router: the program's routes, each of which is converted to a URLRequest.

import Alamofire
import Foundation

enum Router: URLRequestConvertible {
  case search(query: String, page: Int)
  case create(User)
  case bearer
  case lines(count: Int)

  static let base = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "https://httpbin.org"

  var method: HTTPMethod {
    switch self {
    case .create: .post
    case .search, .bearer, .lines: .get
    }
  }

  var path: String {
    switch self {
    case .search: "/get"
    case .create: "/post"
    case .bearer: "/bearer"
    case .lines(let count): "/stream/\(count)"
    }
  }

  func asURLRequest() throws -> URLRequest {
    let url = try Router.base.asURL().appendingPathComponent(path)
    var request = URLRequest(url: url)
    request.method = method
    request.headers.add(.accept("application/json"))
    switch self {
    case .search(let query, let page):
      request = try URLEncodedFormParameterEncoder.default.encode(["q": query, "page": String(page)], into: request)
    case .create(let user):
      request = try JSONParameterEncoder.sortedKeys.encode(user, into: request)
    case .bearer, .lines:
      break
    }
    return request
  }
}

struct User: Codable, Sendable, Equatable {
  let name: String
  let born: Int
}

/// The JSON document with which httpbin describes a request.
struct Echo: Decodable, Sendable {
  let url: String
  let args: [String: String]?
  let json: User?
  let form: [String: String]?
  let files: [String: String]?
}
