// ResponseVectorTests: feeds the table of responses to the parser in different pieces.

import LupineWire
import Testing

@Suite("Parsing of the responses in the test tables")
struct ResponseVectorTests {
  @Test(
    "the response parser has the expected result for each response in the test tables if it arrives in one piece",
    arguments: ResponseVector.all)
  func whole(_ vector: ResponseVector) {
    let transcript = vector.transcript([vector.bytes[...]])
    vector.check(transcript)
    if case .failure(let error) = vector.outcome { #expect(transcript.error == error) }
  }

  @Test(
    "the response parser has the expected result for each response in the test tables if it arrives byte by byte",
    arguments: ResponseVector.all)
  func byteByByte(_ vector: ResponseVector) {
    vector.check(vector.transcript(vector.bytes.singly))
  }

  @Test(
    "the response parser has the expected result for each response in the test tables if it is split in two anywhere",
    arguments: ResponseVector.all)
  func everySplit(_ vector: ResponseVector) {
    // The few responses of more than 512 bytes repeat one line or letter, so about 64 splits are enough for them.
    let step = vector.bytes.count > 512 ? 1 + vector.bytes.count / 64 : 1
    for split in stride(from: 0, through: vector.bytes.count, by: step) {
      vector.check(vector.transcript([vector.bytes[..<split], vector.bytes[split...]]))
    }
  }

  @Test(
    "if another response follows a response in the test tables, the connection becomes unusable",
    arguments: ResponseVector.all.filter(\.endsWithoutClose))
  func anotherBehind(_ vector: ResponseVector) {
    let another = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc".latin1
    let bytes = vector.bytes + another
    vector.check(vector.transcript([bytes[...]]), close: .unsolicitedBytes)
    vector.check(vector.transcript([vector.bytes[...], another[...]]), close: .unsolicitedBytes)
    vector.check(vector.transcript(bytes.singly), close: .unsolicitedBytes)
  }

  @Test("the test tables have at least 400 responses, 80 requests and 140 URIs, without duplicates")
  func distinct() {
    let names = ResponseVector.all.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(names.count >= 400)
    let requests = RequestVector.all.map(\.name)
    #expect(Set(requests).count == requests.count)
    #expect(requests.count >= 80)
    let uris = URIVector.taken.map(\.text) + URIVector.refused.map(\.text)
    #expect(Set(uris).count == uris.count)
    #expect(uris.count >= 140)
  }
}

extension ResponseVector {
  var endsWithoutClose: Bool {
    if case .response = outcome { !peerCloses } else { false }
  }

  func transcript(_ pieces: [ArraySlice<UInt8>]) -> Transcript {
    Transcript(of: pieces, method: method, upgrades: upgrades, peerCloses: peerCloses, limits: limits)
  }

  /// Checks that the transcript has the expected outcome of this vector. If `close` isn't nil, it replaces the expected close
  /// reason.
  func check(_ transcript: Transcript, close: CloseReason? = nil) {
    switch outcome {
    case .response(let expected):
      checkHead(transcript, expected)
      #expect(transcript.isComplete)
      #expect(transcript.handedOver == nil)
      #expect(transcript.head?.transferCodings == expected.codings)
      #expect(String(decoding: transcript.body, as: UTF8.self) == expected.body)
      #expect(transcript.trailers.wireLines == expected.trailers)
      #expect(transcript.close == close ?? expected.close)
    case .handOver(let expected, let behind):
      checkHead(transcript, expected)
      #expect(!transcript.isComplete)
      #expect(transcript.handedOver == behind.latin1)
    case .failure(let expected):
      #expect(!transcript.isComplete)
      #expect(transcript.error?.agrees(with: expected) == true, "\(String(describing: transcript.error))")
    }
  }

  private func checkHead(_ transcript: Transcript, _ expected: Expected) {
    // The raw bytes of the final head are unchanged, including folded lines. Only interim heads precede them.
    if let raw = transcript.head?.rawBytes {
      #expect(bytes.dropFirst(transcript.interimBytes).starts(with: raw))
      #expect(raw.last == 0x0A)
    }
    #expect(transcript.error == nil)
    #expect(transcript.informational == expected.informational)
    #expect(transcript.head?.status == expected.status)
    #expect(transcript.head?.reason == expected.reason)
    if let fields = expected.fields { #expect(transcript.head?.fields.wireLines == fields) }
  }
}

extension WireError {
  /// Returns whether both errors are equal. The quoted prefixes of `notHTTP` errors may have different lengths.
  func agrees(with other: WireError) -> Bool {
    if case .notHTTP(let prefix) = self, case .notHTTP(let otherPrefix) = other {
      return otherPrefix.hasPrefix(prefix) || prefix.hasPrefix(otherPrefix)
    }
    return self == other
  }
}
