// Responses: waits for the responses of requests, and the servers that tests share.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization

@testable import Alamofire4

extension DataRequest {
  /// Waits for the response without a serializer, and returns it. The handler doesn't run on the main queue.
  func finished() async -> DefaultDataResponse {
    await firstValue { response(queue: .global(), completionHandler: $0) }
  }

  func serialized<Value: Sendable>(_ serializer: DataResponseSerializer<Value>) async -> DataResponse<Value> {
    await firstValue { response(queue: .global(), responseSerializer: serializer, completionHandler: $0) }
  }

  func string() async -> DataResponse<String> { await serialized(DataRequest.stringResponseSerializer()) }

  /// Waits for the response, whose body is a JSON object. Returns the object's members whose values are strings.
  func object() async -> [String: String] {
    let text = await string().value ?? ""
    let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    return (object ?? [:]).compactMapValues { $0 as? String }
  }
}

extension DownloadRequest {
  func finished() async -> DefaultDownloadResponse {
    await firstValue { response(queue: .global(), completionHandler: $0) }
  }

  func serialized<Value: Sendable>(_ serializer: DownloadResponseSerializer<Value>) async -> DownloadResponse<Value> {
    await firstValue { response(queue: .global(), responseSerializer: serializer, completionHandler: $0) }
  }
}

/// Calls `call` with a completion handler, and returns the value that the handler receives. `call` must call the handler once.
///
/// The value passes a lock only for ThreadSanitizer: if the continuation is resumed before the Swift task waits, ThreadSanitizer
/// doesn't notice that the continuation orders the memory accesses.
func firstValue<Value: Sendable>(_ call: (@escaping @Sendable (Value) -> Void) -> Void) async -> Value {
  let received = Shared<Value?>(nil)
  await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
    call { value in
      received.update { $0 = value }
      continuation.resume()
    }
  }
  guard let value = received.value else { preconditionFailure("the continuation was resumed without a value") }
  return value
}

/// A value, protected by a mutex, that several threads can read and change.
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

/// Starts a server that answers requests as LupineDemo's server does.
func demoServer() throws -> OriginServer { try OriginServer.serving { DemoRoutes.reply(to: $0) } }

/// Creates a SessionManager with an ephemeral configuration, so that tests don't share cookies, credentials or a cache.
func makeManager(
  delegate: SessionDelegate = SessionDelegate(), policies: ServerTrustPolicyManager? = nil
) -> SessionManager {
  SessionManager(configuration: .ephemeral, delegate: delegate, serverTrustPolicyManager: policies)
}

/// A new temporary directory. It is deleted when this object is released.
final class Folder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("alamofire4-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
