// The advanced usage's sections about serializers of collections, and about other session configurations and policies.

import Alamofire4
import Foundation

protocol ResponseCollectionSerializable {
  static func collection(from response: HTTPURLResponse, withRepresentation representation: Any) -> [Self]
}

extension ResponseCollectionSerializable where Self: ResponseObjectSerializable {
  static func collection(from response: HTTPURLResponse, withRepresentation representation: Any) -> [Self] {
    let slideshow = (representation as? [String: Any])?["slideshow"] as? [String: Any]
    let representations = slideshow?["slides"] as? [[String: Any]] ?? []
    return representations.compactMap { Self(response: response, representation: $0) }
  }
}

struct Slide: ResponseObjectSerializable, ResponseCollectionSerializable {
  let title: String

  init?(response: HTTPURLResponse, representation: Any) {
    guard let title = (representation as? [String: Any])?["title"] as? String else { return nil }
    self.title = title
  }
}

extension DataRequest {
  @discardableResult
  func responseCollection<T: ResponseCollectionSerializable>(
    queue: DispatchQueue? = nil, completionHandler: @escaping (DataResponse<[T]>) -> Void
  ) -> Self {
    let responseSerializer = DataResponseSerializer<[T]> { request, response, data, error in
      if let error = error { return .failure(BackendError.network(error: error)) }
      let result = Request.serializeResponseJSON(options: .allowFragments, response: response, data: data, error: nil)
      guard case .success(let jsonObject) = result, let response = response else {
        return .failure(BackendError.objectSerialization(reason: "JSON could not be serialized"))
      }
      return .success(T.collection(from: response, withRepresentation: jsonObject))
    }
    return response(queue: queue, responseSerializer: responseSerializer, completionHandler: completionHandler)
  }

  static func lineResponseSerializer() -> DataResponseSerializer<[String]> {
    DataResponseSerializer { request, response, data, error in
      Request.serializeResponseString(encoding: .utf8, response: response, data: data, error: error)
        .map { $0.split(separator: "\n").map(String.init) }
    }
  }
}

func customSerializers(done: @escaping () -> Void) {
  Alamofire.request("\(base)/json").responseCollection { (response: DataResponse<[Slide]>) in
    print("responseCollection:", response.result.value?.count ?? 0, response.result.value?.last?.title ?? "nothing")
    Alamofire.request("\(base)/robots.txt")
      .response(responseSerializer: DataRequest.lineResponseSerializer()) { response in
        print("custom serializer:", response.result.value ?? [])
        done()
      }
  }
}

func configurations(done: @escaping () -> Void) {
  let ephemeral = SessionManager(configuration: URLSessionConfiguration.ephemeral)
  ephemeral.request("\(base)/get").response { response in
    print("ephemeral session:", response.response?.statusCode ?? 0)
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("alamofire4-\(UUID().uuidString)")
    let configuration = URLSessionConfiguration.background(withIdentifier: "com.example.app.background")
    // Only this addition to Foundation's API is needed, so that the program leaves nothing in the user's directory.
    configuration.lupineBackground.directory = folder.appendingPathComponent("sessions")
    let background = SessionManager(configuration: configuration)
    background.backgroundCompletionHandler = { print("an earlier process has left tasks") }
    let destination: DownloadRequest.DownloadFileDestination = { _, _ in
      (folder.appendingPathComponent("file"), [.createIntermediateDirectories])
    }
    background.download("\(base)/bytes/1000", to: destination).responseData { response in
      print("background session:", response.result.value?.count ?? 0)
      try? FileManager.default.removeItem(at: folder)
      withExtendedLifetime((ephemeral, background)) { done() }
    }
  }
}

class CustomServerTrustPolicyManager: ServerTrustPolicyManager {
  override func serverTrustPolicy(forHost host: String) -> ServerTrustPolicy? {
    if let policy = super.serverTrustPolicy(forHost: host) { return policy }
    return host.hasSuffix(".example.com") ? .performDefaultEvaluation(validateHost: true) : nil
  }
}

func customPolicies(done: @escaping () -> Void) {
  let manager = CustomServerTrustPolicyManager(policies: ["insecure.example.org": .disableEvaluation])
  let hosts = ["insecure.example.org", "www.example.com", "www.example.org"]
  print("custom policies:", hosts.map { manager.serverTrustPolicy(forHost: $0) != nil })
  done()
}
