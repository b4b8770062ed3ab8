// The usage guide's sections about parameter encodings, and about descriptions of requests.

import Alamofire4
import Foundation

struct JSONStringArrayEncoding: ParameterEncoding {
  private let array: [String]

  init(array: [String]) { self.array = array }

  func encode(_ urlRequest: URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
    var urlRequest = try urlRequest.asURLRequest()
    let data = try JSONSerialization.data(withJSONObject: array, options: [])
    if urlRequest.value(forHTTPHeaderField: "Content-Type") == nil {
      urlRequest.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    urlRequest.httpBody = data
    return urlRequest
  }
}

func urlEncodedBody(done: @escaping () -> Void) {
  let parameters: Parameters = ["foo": "bar", "baz": ["a", 1], "qux": ["x": 1]]
  Alamofire.request("\(base)/post", method: .post, parameters: parameters, encoding: URLEncoding.httpBody)
    .responseJSON { response in
      let form = (response.result.value as? [String: Any])?["form"] as? [String: Any]
      let list = form?["baz[]"] as? [Any]
      print("url-encoded body:", form?["foo"] ?? "nothing", form?["qux[x]"] ?? "nothing", list?.count ?? 0)
      done()
    }
}

func encodingOptions(done: @escaping () -> Void) {
  let encoding = URLEncoding(destination: .queryString, arrayEncoding: .noBrackets, boolEncoding: .literal)
  let parameters: Parameters = ["flag": true, "list": ["a", "b"]]
  let request = Alamofire.request("\(base)/post", method: .post, parameters: parameters, encoding: encoding)
  request.response { response in
    print("encoding options:", response.request?.url?.query ?? "nothing")
    done()
  }
}

func propertyLists(done: @escaping () -> Void) {
  Alamofire.request("\(base)/post", method: .post, parameters: ["foo": "bar"], encoding: PropertyListEncoding.xml)
    .responseJSON { response in
      let echo = response.result.value as? [String: Any]
      let type = (echo?["headers"] as? [String: String])?["Content-Type"]
      let isComplete = (echo?["data"] as? String)?.contains("<key>foo</key>") == true
      print("property list:", type ?? "nothing", isComplete)
      done()
    }
}

func customEncoding(done: @escaping () -> Void) {
  Alamofire.request("\(base)/post", method: .post, encoding: JSONStringArrayEncoding(array: ["a", "b"]))
    .responseJSON { response in
      let array = (response.result.value as? [String: Any])?["json"] as? [String]
      print("custom encoding:", array?.joined(separator: " ") ?? "nothing")
      done()
    }
}

func descriptions(done: @escaping () -> Void) {
  let request = Alamofire.request("\(base)/ip")
  request.response { response in
    print("description:", request.description == "GET \(base)/ip (200)")
    done()
  }
}
