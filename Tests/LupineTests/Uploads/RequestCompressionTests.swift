// DeflateRequestCompressor: compressed bodies, and requests that stay unchanged.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct RequestCompressionTests {
  private let session = Session(startRequestsImmediately: false)

  private func request(_ body: Data?, _ headers: HTTPHeaders = []) throws -> URLRequest {
    var request = try URLRequest(url: "http://localhost/", method: .post, headers: headers)
    request.httpBody = body
    return request
  }

  /// Returns the Adler-32 checksum of the data (RFC 1950 §9), computed byte by byte.
  private func adler32(_ data: Data) -> [UInt8] {
    var low: UInt32 = 1
    var high: UInt32 = 0
    for byte in data {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return [UInt8(high >> 8), UInt8(high & 0xFF), UInt8(low >> 8), UInt8(low & 0xFF)]
  }

  /// Decompresses a zlib stream, and checks its checksum, as a strict server does.
  private func inflated(_ data: Data) throws -> Data {
    Data(try ContentDecoder.decode([UInt8](data), [.deflate]))
  }

  @Test(
    "DeflateRequestCompressor writes a zlib stream: the bytes 78 5E, deflate data, and the body's Adler-32 checksum",
    arguments: [0, 1, 100, 65_536, 1_000_000])
  func zlibStream(byteCount: Int) async throws {
    let body = Pattern.data(byteCount)
    let adapted = try await DeflateRequestCompressor().adapted(try request(body), for: session).get()
    let compressed = try #require(adapted.httpBody)
    #expect(compressed.starts(with: [0x78, 0x5E]))
    #expect(Array(compressed.suffix(4)) == adler32(body))
    #expect(try inflated(compressed).hashValue == body.hashValue)
    #expect(byteCount < 1000 || compressed.count < byteCount / 10)
    #expect(adapted.headers["Content-Encoding"] == "deflate")
  }

  @Test("DeflateRequestCompressor doesn't change a request without a body, with or without a Content-Encoding field")
  func noBody() async throws {
    for headers in [[:], ["Content-Encoding": "br"]] as [HTTPHeaders] {
      let plain = try request(nil, headers)
      #expect(try await DeflateRequestCompressor().adapted(plain, for: session).get() == plain)
    }
  }

  @Test("DeflateRequestCompressor doesn't compress a body for which its closure returns false")
  func choice() async throws {
    let compressor = DeflateRequestCompressor { $0.count > 10 }
    let small = try request(Data(repeating: 7, count: 10))
    #expect(try await compressor.adapted(small, for: session).get() == small)
    let large = try request(Data(repeating: 7, count: 11))
    #expect(try await compressor.adapted(large, for: session).get().headers["Content-Encoding"] == "deflate")
  }

  @Test("by default, DeflateRequestCompressor refuses a request with a Content-Encoding field, in any letter case")
  func duplicateField() async throws {
    let coded = try request(Data([1]), ["content-encoding": "br"])
    let result = await DeflateRequestCompressor().adapted(coded, for: session)
    let error = #expect(throws: DeflateRequestCompressor.DuplicateHeaderError.self) { try result.get() }
    #expect(error?.localizedDescription.contains("Content-Encoding") == true)
  }

  @Test(
    "DeflateRequestCompressor with `.skip` leaves an encoded body unchanged, and with `.replace` compresses it again")
  func duplicateFieldAllowed() async throws {
    let coded = try request(Data([1]), ["Content-Encoding": "br"])
    let skipping = DeflateRequestCompressor(duplicateHeaderBehavior: .skip)
    #expect(try await skipping.adapted(coded, for: session).get() == coded)
    let replacing = DeflateRequestCompressor(duplicateHeaderBehavior: .replace)
    let replaced = try await replacing.adapted(coded, for: session).get()
    #expect(replaced.headers.filter { $0.name.lowercased() == "content-encoding" }.map(\.value) == ["deflate"])
    #expect(try inflated(try #require(replaced.httpBody)) == Data([1]))
  }

  @Test("the static factories of DeflateRequestCompressor create working compressors")
  func shortNames() async throws {
    func made(_ compressor: any RequestInterceptor) async throws -> URLRequest {
      try await compressor.adapted(try request(Data([1]), ["Content-Encoding": "br"]), for: session).get()
    }
    await #expect(throws: DeflateRequestCompressor.DuplicateHeaderError.self) { try await made(.deflateCompressor) }
    let skipped = try await made(.deflateCompressor(duplicateHeaderBehavior: .skip))
    #expect(skipped.headers["Content-Encoding"] == "br")
    let refused = try await made(.deflateCompressor { _ in false })
    #expect(refused.httpBody == Data([1]))
  }

  @Test("a server receives a compressed request body with the Content-Length of the compressed bytes")
  func server() async throws {
    let received = Recorder<ReceivedRequest>()
    try await withServer { request in
      received.record(request)
      return Reply()
    } _: { origin in
      let body = Pattern.data(10_000)
      var plain = try URLRequest(url: origin.url, method: .post, headers: ["Content-Length": "10000"])
      plain.httpBody = body
      try await withSession { session in
        let adapted = try await DeflateRequestCompressor().adapted(plain, for: session).get()
        #expect(await session.request(adapted).outcome().error == nil)
      }
      let request = try #require(await received.next())
      #expect(request.fields.first("Content-Encoding") == "deflate")
      #expect(request.fields.first("Content-Length") == "\(request.body.count)")
      #expect(try inflated(Data(request.body)).hashValue == body.hashValue)
    }
  }
}
