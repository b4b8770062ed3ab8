// FoundationDecoder: how responses in JSON are decoded: by LupineJSON where a JSONDecoder would do the same, or by Foundation.

public import Foundation
public import LupineFormats
internal import Synchronization

/// A decoder that always uses Foundation's `JSONDecoder`.
///
/// A request that is given a `JSONDecoder` reads its settings, and decodes with LupineJSON, which returns the same value in less
/// time. Pass this decoder to have Foundation decode a response:
///
/// ```swift
/// AF.request(url).responseDecodable(of: User.self, decoder: .foundation()) { print($0.result) }
/// ```
public struct FoundationDecoder: DataDecoder {
  /// Foundation's decoder, with its settings.
  public let decoder: JSONDecoder

  /// Creates a decoder that uses `decoder`.
  public init(_ decoder: JSONDecoder = JSONDecoder()) { self.decoder = decoder }

  /// Decodes a value of type `D` from `data` by the `JSONDecoder`.
  ///
  /// - Throws: The errors of `JSONDecoder`.
  public func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
    try decoder.decode(type, from: data)
  }
}

extension DataDecoder where Self == FoundationDecoder {
  /// Returns a decoder that always uses `decoder`.
  public static func foundation(_ decoder: JSONDecoder = JSONDecoder()) -> FoundationDecoder {
    FoundationDecoder(decoder)
  }
}

/// The decoder of LupineJSON, which reports its own errors instead of Foundation's. Without Foundation's settings, it decodes `Date`,
/// `Data`, `URL` and `Decimal` by their initializers; `LupineJSONDecoder(JSONDecoder())` decodes them as Foundation does.
extension LupineJSONDecoder: DataDecoder {}

extension Session {
  /// Whether only Foundation's `JSONDecoder` decodes JSON for the session's requests, as with ``FoundationDecoder``. False by
  /// default. A change applies to responses that are serialized later.
  public var decodesWithFoundation: Bool {
    get { queues.decodesWithFoundation.load(ordering: .relaxed) }
    set { queues.decodesWithFoundation.store(newValue, ordering: .relaxed) }
  }

  /// Whether only Foundation's `JSONEncoder` and `JSONSerialization` encode JSON for the session's requests. False by default. A
  /// change applies to requests that are encoded later.
  public var encodesWithFoundation: Bool {
    get { queues.encodesWithFoundation.load(ordering: .relaxed) }
    set { queues.encodesWithFoundation.store(newValue, ordering: .relaxed) }
  }
}

extension DataDecoder {
  /// Decodes the body of a response, or a part of it.
  func decodeBody<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
    guard let decoder = self as? JSONDecoder, !JSONChoice.decodesWithFoundation else {
      return try decode(type, from: data)
    }
    return try FoundationJSON.decode(type, from: data, with: decoder)
  }

  /// Decodes the body of a response, or a part of it. The failure is `.responseSerializationFailed` with `.decodingFailed`.
  func decoded<T: Decodable & Sendable>(from data: Data) -> Result<T, AFError> {
    do {
      return .success(try decodeBody(T.self, from: data))
    } catch {
      return .failure(.responseSerializationFailed(reason: .decodingFailed(error: error)))
    }
  }
}
