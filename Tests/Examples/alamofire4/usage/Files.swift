// The usage guide's sections about caching, resumed downloads, and uploads of files.

import Alamofire4
import Foundation

func caching(done: @escaping () -> Void) {
  let configuration = URLSessionConfiguration.default
  configuration.urlCache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
  let sessionManager = SessionManager(configuration: configuration)
  sessionManager.request("\(base)/cache/60").responseData { first in
    print("first response from the network:", source(of: first) == .networkLoad)
    sessionManager.request("\(base)/cache/60").responseData { second in
      print("second response from the cache:", source(of: second) == .localCache)
      withExtendedLifetime(sessionManager) { done() }
    }
  }
}

private func source(of response: DataResponse<Data>) -> URLSessionTaskMetrics.ResourceFetchType? {
  response.metrics?.transactionMetrics.last?.resourceFetchType
}

class ImageRequestor {
  private var resumeData: Data?
  private(set) var image: Data?

  func fetchImage(completion: @escaping () -> Void) {
    let request: DownloadRequest
    if let resumeData = resumeData {
      request = Alamofire.download(resumingWith: resumeData)
    } else {
      request = Alamofire.download("\(base)/image/png")
    }
    request.responseData { response in
      switch response.result {
      case .success(let data): self.image = data
      case .failure: self.resumeData = response.resumeData
      }
      if let file = response.temporaryURL { try? FileManager.default.removeItem(at: file) }
      completion()
    }
  }
}

func resumedDownloads(done: @escaping () -> Void) {
  let requestor = ImageRequestor()
  requestor.fetchImage {
    print("image requestor:", requestor.image?.isEmpty == false)
    Alamofire.download(resumingWith: Data("damaged".utf8)).response { response in
      print("damaged resume data:", (response.error as? URLError)?.code == .unsupportedURL)
      done()
    }
  }
}

func fileUploads(done: @escaping () -> Void) {
  let file = FileManager.default.temporaryDirectory.appendingPathComponent("alamofire4-\(UUID().uuidString).txt")
  do {
    try Data("bytes of a file".utf8).write(to: file)
  } catch {
    print(error)
  }
  Alamofire.upload(file, to: "\(base)/post", headers: ["Content-Type": "text/plain"]).responseJSON { response in
    print("file upload:", (response.result.value as? [String: Any])?["data"] as? String ?? "nothing")
    Alamofire.upload(
      multipartFormData: { $0.append(file, withName: "unicorn") }, to: "\(base)/post",
      encodingCompletion: { encodingResult in
        guard case .success(let upload, _, _) = encodingResult else { return print(encodingResult) }
        upload.responseJSON { response in
          let files = (response.result.value as? [String: Any])?["files"] as? [String: String]
          print("file in a form:", files?["unicorn"] ?? "nothing")
          try? FileManager.default.removeItem(at: file)
          done()
        }
      })
  }
}
