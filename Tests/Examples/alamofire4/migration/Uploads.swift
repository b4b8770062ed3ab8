// The migration guide's sections about uploads, and about errors that other layers have caused.

import Alamofire4
import Foundation

func uploading(done: @escaping () -> Void) {
  let headers: HTTPHeaders = ["Content-Type": "text/plain"]
  Alamofire.upload(Data("some bytes".utf8), to: "\(base)/put", method: .put, headers: headers)
    .uploadProgress { progress in if progress.fractionCompleted > 1 { print("impossible") } }
    .responseJSON { response in
      print("upload request:", (response.result.value as? [String: Any])?["data"] as? String ?? "nothing")
      let stream = InputStream(data: Data("bytes of a stream".utf8))
      Alamofire.upload(stream, to: "\(base)/post", headers: headers).responseJSON { response in
        print("stream:", (response.result.value as? [String: Any])?["data"] as? String ?? "nothing")
        done()
      }
    }
}

func underlyingErrors(done: @escaping () -> Void) {
  Alamofire.request("").response { response in
    print("invalid URL:", (response.error as? AFError)?.isInvalidURLError == true)
    Alamofire.request("\(base)/html").responseJSON { response in
      let error = response.error as? AFError
      print("serialization:", error?.isResponseSerializationError == true, error?.underlyingError != nil)
      Alamofire.request("\(base)/bytes/10").validate { _, _, _ in .failure(URLError(.cannotParseResponse)) }
        .responseData { response in
          print("validation:", (response.error as? URLError)?.code == .cannotParseResponse)
          done()
        }
    }
  }
}
