// `EventFixture`: an argument of each type that event monitors get. No request of it is ever sent.

import Foundation
import LupineEngine

@testable import Lupine
@testable import LupineURLSession

/// An argument of each type that event monitors receive, such as a session, its requests and its tasks.
struct EventFixture {
  let url = URL(filePath: "/tmp/event")
  let data = Data("body".utf8)
  let input = InputStream(data: Data("stream".utf8))
  let error = AFError.explicitlyCancelled
  let initial = URLRequest(url: URL(filePath: "/initial"))
  let adapted = URLRequest(url: URL(filePath: "/adapted"))

  let owner = Session(startRequestsImmediately: false, eventMonitors: [])
  let session: URLSession
  let request: DataRequest
  let stream: DataStreamRequest
  let upload: UploadRequest
  let download: DownloadRequest

  let task: URLSessionTask
  let dataTask: URLSessionDataTask
  let downloadTask: URLSessionDownloadTask

  let challenge: URLAuthenticationChallenge
  let response: HTTPURLResponse
  let cached: CachedURLResponse
  let metrics: URLSessionTaskMetrics
  let dataResponse: DataResponse<Data?, AFError>
  let downloadResponse: DownloadResponse<URL?, AFError>

  init() {
    session = owner.session
    request = owner.request("http://127.0.0.1:1")
    stream = owner.streamRequest(initial)
    upload = owner.upload(Data(), with: initial)
    download = owner.download(initial)
    task = session.dataTask(with: initial)
    dataTask = session.dataTask(with: adapted)
    downloadTask = session.downloadTask(with: initial)
    challenge = URLAuthenticationChallenge(
      protectionSpace: URLProtectionSpace(
        host: "localhost", port: 80, protocol: "http", realm: "realm",
        authenticationMethod: NSURLAuthenticationMethodHTTPBasic),
      proposedCredential: nil, previousFailureCount: 0, failureResponse: nil)
    response = HTTPURLResponse(url: url, statusCode: 200, fields: [:])
    cached = CachedURLResponse(response: response, data: data)
    metrics = task.metrics
    dataResponse = DataResponse(
      request: initial, response: nil, data: data, metrics: nil, serializationDuration: 0, result: .success(data))
    downloadResponse = DownloadResponse(
      request: initial, response: nil, fileURL: url, resumeData: nil, metrics: nil, serializationDuration: 0,
      result: .success(url))
  }
}
