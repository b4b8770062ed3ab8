// Responses whose values aren't Sendable, in the language modes of Swift 5 and Swift 6.
// Never run; it has to compile without warnings.

import Alamofire
import Foundation

final class User: Decodable {
  var name = ""
}

func name(in response: AFDataResponse<User>) -> String? { response.value?.name }

func name(in response: AFDownloadResponse<User>) -> String? { response.value?.name }

func name(in stream: DataStreamRequest.Stream<User, AFError>) -> String? { stream.value?.name }

func isPiece(_ event: DataStreamRequest.Event<User, AFError>) -> Bool {
  if case .stream = event { true } else { false }
}

func printing() -> DataStreamRequest.Handler<User, AFError> { { print(name(in: $0) ?? "") } }

func user(in response: AFDataResponse<Any>) -> AFDataResponse<User> {
  response.map { _ in User() }
}

func user(in response: AFDownloadResponse<Any>) -> AFDownloadResponse<User> {
  response.map { _ in User() }
}

func decoded(_ response: AFDataResponse<Data>) -> DataResponse<User, any Error> {
  response.tryMap { try JSONDecoder().decode(User.self, from: $0) }
}

func decoded(_ response: AFDownloadResponse<Data>) -> DownloadResponse<User, any Error> {
  response.tryMap { try JSONDecoder().decode(User.self, from: $0) }
}

func show(_ response: AFDataResponse<Any>) { debugPrint(response) }

// Deprecated, so that the compiler doesn't warn about the deprecated methods that this code calls.
@available(*, deprecated)
func untyped(at url: String, completionHandler: @escaping @Sendable (AFDataResponse<Any>) -> Void) {
  AF.request(url).responseJSON { (response: AFDataResponse<Any>) in print(response) }
  AF.request(url).responseJSON { response in
    switch response.result {
    case .success(let value): print((value as? [String: Any])?["name"] as? String ?? "")
    case .failure(let error): print(error)
    }
  }
  AF.request(url).responseJSON(completionHandler: show)
  AF.request(url).responseJSON(completionHandler: completionHandler)
  AF.request(url).responseJSON { response in Task { print(response) } }
  AF.request(url).response(responseSerializer: JSONResponseSerializer()) { (response: AFDataResponse<Any>) in
    print(response)
  }
  AF.request(url).response(responseSerializer: JSONResponseSerializer()) { print($0.value as? [String: Any] ?? [:]) }
  AF.request(url).responsePropertyList { (response: AFDataResponse<Any>) in print(response) }
}

@available(*, deprecated)
func untypedFile(at url: String) {
  AF.download(url).responseJSON { (response: AFDownloadResponse<Any>) in print(response) }
  AF.download(url).responseJSON { print($0.value as? [String: Any] ?? [:]) }
  AF.download(url).response(responseSerializer: JSONResponseSerializer()) { (response: AFDownloadResponse<Any>) in
    print(response)
  }
  AF.download(url).response(responseSerializer: JSONResponseSerializer()) { print($0.value as? [String: Any] ?? [:]) }
  AF.download(url).responsePropertyList { (response: AFDownloadResponse<Any>) in print(response) }
}

@available(*, deprecated)
func awaited(_ url: String) async -> AFDataResponse<Any> {
  await withCheckedContinuation { continuation in
    AF.request(url).responseJSON { continuation.resume(returning: $0) }
  }
}

@available(*, deprecated)
func value(at url: String) async throws -> Any {
  try await withCheckedThrowingContinuation { continuation in
    AF.download(url).responseJSON { continuation.resume(with: $0.result) }
  }
}

func wrapped<Value: Decodable & Sendable>(
  _ url: String, completionHandler: @escaping @Sendable (AFDataResponse<Value>) -> Void
) {
  AF.request(url).responseDecodable(of: Value.self, completionHandler: completionHandler)
}

final class Monitor: EventMonitor {
  func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
    debugPrint(response)
  }

  func request<Value: Sendable>(_ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>)
  {
    debugPrint(response)
  }
}
