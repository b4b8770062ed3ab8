// RequestSequenceTests: a request's events as asynchronous sequences that end with the request.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct RequestSequenceTests {
  @Test("a request's async sequences of upload progress and download progress reach the total, and then end")
  func progress() async throws {
    try await withServer { _ in
      Reply(.pattern(byteCount: 1_000_000))
    } _: { origin in
      try await withSession { session in
        let request = session.request(
          origin.url, method: .post, requestModifier: { $0.httpBody = Data(count: 1_000_000) })
        let (uploads, downloads) = (request.uploadProgress(), request.downloadProgress())
        async let sent = counts(uploads)
        async let received = counts(downloads) { request.response(queue: .global()) { _ in } }
        #expect(await sent.last == 1_000_000)
        #expect(await received.last == 1_000_000)
        #expect(request.isFinished)
        #expect(request.uploadProgress.fractionCompleted == 1 && request.downloadProgress.fractionCompleted == 1)
      }
    }
  }

  /// Waits for the end of a progress sequence, and returns each element's completedUnitCount. Calls `begun` before it waits for
  /// the first element.
  private func counts(_ sequence: StreamOf<Progress>, begun: () -> Void = {}) async -> [Int64] {
    var counts: [Int64] = []
    var iterator = sequence.makeAsyncIterator()
    begun()
    while let progress = await iterator.next() { counts.append(progress.completedUnitCount) }
    return counts
  }

  @Test(
    "a request's async sequences deliver URLRequest, task, curl command and response once per attempt, and then end")
  func rounds() async throws {
    let count = Atomic(0)
    try await withServer { _ in
      .text("", status: count.add(1, ordering: .relaxed).newValue == 1 ? 500 : 204)
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url + "/path", interceptor: OneRetry()).validate()
        var (requests, tasks) = (
          request.urlRequests().makeAsyncIterator(), request.urlSessionTasks().makeAsyncIterator()
        )
        var (commands, heads) = (
          request.cURLDescriptions().makeAsyncIterator(), request.httpResponses().makeAsyncIterator()
        )
        _ = await request.serializingData().response
        for _ in 0..<2 {
          #expect(await requests.next()?.url == URL(string: origin.url + "/path"))
          #expect(await commands.next()?.contains(origin.url + "/path") == true)
        }
        #expect(await tasks.next() == request.firstTask)
        #expect(await tasks.next() == request.lastTask)
        #expect(await heads.next()?.statusCode == 500)
        #expect(await heads.next()?.statusCode == 204)
        #expect(await requests.next() == nil)
        #expect(await commands.next() == nil)
        #expect(await tasks.next() == nil)
        #expect(await heads.next() == nil)
      }
    }
  }

  @Test(
    "new async sequences of an ended stream request deliver its last URLRequest, task and curl command, and then end")
  func late() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url)
        #expect(await request.outcome().pieces == ["here"])
        var seen: [String] = []
        for await urlRequest in request.urlRequests() { seen.append("\(urlRequest.url?.absoluteString ?? "")") }
        for await task in request.urlSessionTasks() { seen.append("\(task.taskIdentifier)") }
        for await command in request.cURLDescriptions() { seen.append(String(command.prefix(6))) }
        for await response in request.httpResponses() { seen.append("\(response.statusCode)") }
        for await progress in request.downloadProgress() { seen.append("\(progress.fractionCompleted)") }
        #expect(seen == [origin.url, "1", "$ curl"])
      }
    }
  }

  @Test("httpResponses delivers a stream request's response head, and then ends")
  func streamHead() async throws {
    try await withServer { _ in
      .text("here", status: 201)
    } _: { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url)
        var heads = request.httpResponses(bufferingPolicy: .bufferingOldest(1)).makeAsyncIterator()
        #expect(await request.outcome().pieces == ["here"])
        #expect(await heads.next()?.statusCode == 201)
        #expect(await heads.next() == nil)
      }
    }
  }

  @Test("the buffering policy of an async sequence decides whether it keeps all, the oldest or the newest elements")
  func policies() async throws {
    func sequence(_ policy: StreamOf<Int>.BufferingPolicy) -> StreamOf<Int> {
      StreamOf(bufferingPolicy: policy) { continuation in
        for number in 0..<10 { continuation.yield(number) }
        continuation.finish()
      }
    }
    #expect(await sequence(.unbounded).reduce(into: []) { $0.append($1) } == Array(0..<10))
    #expect(await sequence(.bufferingOldest(2)).reduce(into: []) { $0.append($1) } == [0, 1])
    #expect(await sequence(.bufferingNewest(2)).reduce(into: []) { $0.append($1) } == [8, 9])
  }

  @Test(
    "no body is received before an async onHTTPResponse handler returns, and returning .cancel cancels the request"
  )
  func awaitedHead() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let (asked, goOn) = (Gate(), Gate())
        let request = session.request(origin.url)
        request.onHTTPResponse { response async in
          #expect(response.statusCode == 200)
          asked.open()
          await goOn.wait()
        }
        async let response = request.serializingString().response
        await asked.wait()
        #expect(request.data == nil && request.task?.countOfBytesReceived == 0)
        goOn.open()
        #expect(await response.value == "here")
        let refused = session.request(origin.url).onHTTPResponse { _ async in .cancel }
        let outcome = await refused.serializingString().response
        #expect(outcome.error?.isExplicitlyCancelledError == true && outcome.data == nil)
      }
    }
  }

  @Test("serializingResponse(using:) accepts serializers that are written as static members, such as .string")
  func serializers() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        #expect(await session.request(origin.url).serializingResponse(using: .string).response.value == "here")
        #expect(await session.request(origin.url).serializingResponse(using: .data).response.value?.count == 4)
        let list = session.request(origin.url).serializingResponse(using: .propertyList)
        #expect(await list.response.error?.isResponseSerializationError == true)
        let decoded = session.request(origin.url).serializingResponse(using: .decodable(of: Int.self))
        #expect(await decoded.response.error?.isResponseSerializationError == true)
      }
    }
  }
}
