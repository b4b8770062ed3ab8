// The sections of Alamofire 4's usage guide: each function uses the API of one section.

import Alamofire4
import Foundation

func makingRequests(done: @escaping () -> Void) {
  Alamofire.request("\(base)/get").responseJSON { response in
    let url = (response.result.value as? [String: Any])?["url"] as? String
    print("request:", response.result, response.response?.statusCode ?? 0, url?.hasSuffix("/get") == true)
    done()
  }
}

func responseHandling(done: @escaping () -> Void) {
  Alamofire.request("\(base)/get")
    .response { response in
      print("handler without serialization:", response.error == nil, response.data?.isEmpty == false)
    }
    .responseData { response in
      if let data = response.result.value { print("data:", !data.isEmpty) }
    }
    .responseString { response in
      print("string:", response.result.isSuccess, response.result.value?.hasPrefix("{") == true)
    }
    .responseJSON(queue: DispatchQueue.global(qos: .utility)) { response in
      let isMain = Thread.isMainThread
      let isObject = response.result.value is [String: Any]
      DispatchQueue.main.async {
        print("json on another queue:", !isMain, isObject)
        done()
      }
    }
}

func validation(done: @escaping () -> Void) {
  Alamofire.request("\(base)/get")
    .validate(statusCode: 200..<300)
    .validate(contentType: ["application/json"])
    .responseData { response in
      switch response.result {
      case .success: print("validation: successful")
      case .failure(let error): print("validation:", error)
      }
      Alamofire.request("\(base)/status/404").validate().responseJSON { response in
        if let error = response.error as? AFError, error.isResponseValidationError {
          print("validation: rejected", error.responseCode ?? 0)
        }
        done()
      }
    }
}

func methods(done: @escaping () -> Void) {
  Alamofire.request("\(base)/post", method: .post).response { response in
    print("post:", response.response?.statusCode ?? 0)
    Alamofire.request("\(base)/delete", method: .delete).response { response in
      print("delete:", response.response?.statusCode ?? 0)
      done()
    }
  }
}

func parameters(done: @escaping () -> Void) {
  let query: Parameters = ["foo": "bar", "baz": ["a", 1], "qux": ["x": 1, "y": 2, "z": 3]]
  let get = Alamofire.request("\(base)/get", parameters: query)
  print("query:", get.request?.url?.query?.removingPercentEncoding ?? "")
  Alamofire.request("\(base)/post", method: .post, parameters: query, encoding: JSONEncoding.default)
    .responseJSON { response in
      let json = (response.result.value as? [String: Any])?["json"] as? [String: Any]
      print("json body:", json?["foo"] as? String ?? "nothing")
      manualEncoding(done: done)
    }
}

func manualEncoding(done: @escaping () -> Void) {
  do {
    let request = try URLRequest(url: "\(base)/put", method: .put)
    let encoded = try URLEncoding.httpBody.encode(request, with: ["form": true])
    Alamofire.request(encoded).responseJSON { response in
      let form = (response.result.value as? [String: Any])?["form"] as? [String: String]
      print("form body:", form ?? [:])
      done()
    }
  } catch {
    print(error)
  }
}

func headers(done: @escaping () -> Void) {
  let headers: HTTPHeaders = ["Authorization": "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Accept": "application/json"]
  Alamofire.request("\(base)/headers", headers: headers).responseJSON { response in
    let sent = (response.result.value as? [String: Any])?["headers"] as? [String: String]
    print("headers:", sent?["Accept"] ?? "", sent?["Authorization"]?.hasPrefix("Basic") == true)
    done()
  }
}

func authentication(done: @escaping () -> Void) {
  let (user, password) = ("user", "password")
  let sessionManager = SessionManager()
  // If requests started immediately, a server on the same machine could send its challenge before the credential is set.
  sessionManager.startRequestsImmediately = false
  sessionManager.request("\(base)/basic-auth/\(user)/\(password)").authenticate(user: user, password: password)
    .responseJSON { response in
      withExtendedLifetime(sessionManager) {}
      print("challenge answered:", response.response?.statusCode ?? 0)
      var headers: HTTPHeaders = [:]
      if let header = Request.authorizationHeader(user: user, password: password) { headers[header.key] = header.value }
      let credential = URLCredential(user: user, password: password, persistence: .forSession)
      Alamofire.request("\(base)/basic-auth/\(user)/\(password)", headers: headers)
        .authenticate(usingCredential: credential)
        .response {
          print("header sent:", $0.response?.statusCode ?? 0)
          done()
        }
    }
    .resume()
}

func downloads(done: @escaping () -> Void) {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("alamofire4-\(UUID().uuidString)")
  let destination: DownloadRequest.DownloadFileDestination = { _, response in
    (folder.appendingPathComponent("pig.png"), [.removePreviousFile, .createIntermediateDirectories])
  }
  Alamofire.download("\(base)/image/png", to: destination)
    .downloadProgress { progress in if progress.fractionCompleted > 1 { print("impossible") } }
    .responseData { response in
      print("download:", response.result, response.destinationURL?.lastPathComponent ?? "none")
      try? FileManager.default.removeItem(at: folder)
      Alamofire.download("\(base)/image/png").responseData { response in
        print("download without destination:", response.result.value?.isEmpty == false)
        if let file = response.temporaryURL { try? FileManager.default.removeItem(at: file) }
        done()
      }
    }
}

func uploads(done: @escaping () -> Void) {
  Alamofire.upload(Data("some bytes".utf8), to: "\(base)/post")
    .uploadProgress { progress in if progress.fractionCompleted > 1 { print("impossible") } }
    .responseJSON { response in
      print("upload:", (response.result.value as? [String: Any])?["data"] as? String ?? "")
      Alamofire.upload(
        multipartFormData: { form in
          form.append(Data("unicorn".utf8), withName: "animal")
          form.append(Data("rainbow".utf8), withName: "sky", fileName: "sky.txt", mimeType: "text/plain")
        }, to: "\(base)/post",
        encodingCompletion: { encodingResult in
          switch encodingResult {
          case .success(let upload, let streamingFromDisk, _):
            upload.responseJSON { response in
              let echo = response.result.value as? [String: Any]
              let form = echo?["form"] as? [String: String]
              let files = echo?["files"] as? [String: String]
              print("multipart:", form?["animal"] ?? "", files?["sky"] ?? "", streamingFromDisk)
              done()
            }
          case .failure(let encodingError):
            print(encodingError)
          }
        })
    }
}

func metrics(done: @escaping () -> Void) {
  let request = Alamofire.request("\(base)/get").responseJSON { response in
    print("timeline:", response.timeline.totalDuration > 0, response.timeline.description.hasPrefix("Timeline: {"))
    print("metrics:", response.metrics?.transactionMetrics.count ?? 0)
    done()
  }
  print("curl:", request.debugDescription.hasPrefix("$ curl -v"))
}

run([
  makingRequests, responseHandling, validation, caching, methods, parameters, urlEncodedBody, encodingOptions,
  propertyLists, customEncoding, headers, authentication, downloads, resumedDownloads, uploads, fileUploads, metrics,
  descriptions,
])
dispatchMain()
