// Responses: waits for the responses of requests, and the servers that tests share.

import Foundation
import LupineOrigin
import Synchronization

@testable import Alamofire4

extension DataRequest {
  /// Waits for the response, which is delivered off the main queue.
  func finished() async -> DefaultDataResponse {
    await withCheckedContinuation { continuation in
      response(queue: .global()) { continuation.resume(returning: $0) }
    }
  }

  func serialized<Value: Sendable>(_ serializer: DataResponseSerializer<Value>) async -> DataResponse<Value> {
    await withCheckedContinuation { continuation in
      response(queue: .global(), responseSerializer: serializer) { continuation.resume(returning: $0) }
    }
  }

  func string() async -> DataResponse<String> { await serialized(DataRequest.stringResponseSerializer()) }

  /// Waits for the response, and returns the string members of the JSON object in its body.
  func object() async -> [String: String] {
    let text = await string().value ?? ""
    let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    return (object ?? [:]).compactMapValues { $0 as? String }
  }
}

extension DownloadRequest {
  func finished() async -> DefaultDownloadResponse {
    await withCheckedContinuation { continuation in
      response(queue: .global()) { continuation.resume(returning: $0) }
    }
  }

  func serialized<Value: Sendable>(_ serializer: DownloadResponseSerializer<Value>) async -> DownloadResponse<Value> {
    await withCheckedContinuation { continuation in
      response(queue: .global(), responseSerializer: serializer) { continuation.resume(returning: $0) }
    }
  }
}

/// A value that several threads may use.
final class Shared<Value: Sendable>: Sendable {
  private let storage: Mutex<Value>

  init(_ value: Value) { storage = Mutex(value) }

  var value: Value { storage.withLock { $0 } }

  @discardableResult
  func update<Result: Sendable>(_ change: @Sendable (inout Value) -> Result) -> Result {
    storage.withLock { value in
      var changed = value
      let result = change(&changed)
      value = changed
      return result
    }
  }
}

/// A server with the routes of the demo.
func demoServer() throws -> OriginServer { try OriginServer.serving { DemoRoutes.reply(to: $0) } }

/// Creates a manager whose requests don't share state with those of other tests.
func makeManager(
  delegate: SessionDelegate = SessionDelegate(), policies: ServerTrustPolicyManager? = nil
) -> SessionManager {
  SessionManager(configuration: .ephemeral, delegate: delegate, serverTrustPolicyManager: policies)
}

/// A new directory, which is removed with the object.
final class Folder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("alamofire4-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
