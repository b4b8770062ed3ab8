// Tests that stub the network with URLProtocol, as many programs for Apple's platforms have them.

import Foundation
import XCTest

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@testable import Weather

final class MockURLProtocol: URLProtocol, @unchecked Sendable {
  nonisolated(unsafe) static var requestHandler: ((URLRequest) throws -> (HTTPURLResponse, Data))?

  override class func canInit(with request: URLRequest) -> Bool { true }

  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  override func startLoading() {
    guard let handler = MockURLProtocol.requestHandler else {
      XCTFail("Received an unexpected request with no handler set")
      return
    }
    do {
      let (response, data) = try handler(request)
      client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
      client?.urlProtocol(self, didLoad: data)
      client?.urlProtocolDidFinishLoading(self)
    } catch {
      client?.urlProtocol(self, didFailWithError: error)
    }
  }

  override func stopLoading() {}
}

final class ForecastsTests: XCTestCase {
  private func makeForecasts() -> Forecasts {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [MockURLProtocol.self]
    return Forecasts(session: URLSession(configuration: configuration))
  }

  override func tearDown() {
    MockURLProtocol.requestHandler = nil
    super.tearDown()
  }

  func testLoad() async throws {
    MockURLProtocol.requestHandler = { request in
      XCTAssertEqual(request.url?.absoluteString, "https://weather.example/v1/Oslo")
      let response = HTTPURLResponse(url: request.url!, statusCode: 200, httpVersion: nil, headerFields: nil)!
      return (response, Data(#"{"city": "Oslo", "degrees": -3}"#.utf8))
    }
    let forecast = try await makeForecasts().load("Oslo")
    XCTAssertEqual(forecast, Forecast(city: "Oslo", degrees: -3))
  }

  func testRegisteredClassAnswersTheSharedSession() async throws {
    XCTAssertTrue(URLProtocol.registerClass(MockURLProtocol.self))
    defer { URLProtocol.unregisterClass(MockURLProtocol.self) }
    MockURLProtocol.requestHandler = { request in
      (HTTPURLResponse(url: request.url!, statusCode: 404, httpVersion: nil, headerFields: nil)!, Data())
    }
    do {
      _ = try await Forecasts().load("Atlantis")
      XCTFail("a forecast without a city")
    } catch let error as ForecastError {
      XCTAssertEqual(error, .status(404))
    }
  }

  func testPublish() {
    MockURLProtocol.requestHandler = { request in
      XCTAssertEqual(request.httpMethod, "PUT")
      let forecast = try JSONDecoder().decode(Forecast.self, from: try Self.body(of: request))
      XCTAssertEqual(forecast, Forecast(city: "Rome", degrees: 31))
      throw URLError(.notConnectedToInternet)
    }
    let isDone = expectation(description: "the upload ends")
    makeForecasts().publish(Forecast(city: "Rome", degrees: 31)) { result in
      if case .failure(let error) = result {
        XCTAssertEqual((error as? URLError)?.code, .notConnectedToInternet)
      } else {
        XCTFail("the upload succeeds")
      }
      isDone.fulfill()
    }
    wait(for: [isDone], timeout: 60)
  }

  /// Returns the body of a request that a URLProtocol has received. Depending on the platform, the body is data or a stream.
  private static func body(of request: URLRequest) throws -> Data {
    if let data = request.httpBody { return data }
    guard let stream = request.httpBodyStream else { throw URLError(.zeroByteResource) }
    stream.open()
    defer { stream.close() }
    var (data, buffer) = (Data(), [UInt8](repeating: 0, count: 1_000))
    while stream.hasBytesAvailable {
      let count = stream.read(&buffer, maxLength: buffer.count)
      guard count > 0 else { break }
      data.append(contentsOf: buffer[..<count])
    }
    return data
  }
}
