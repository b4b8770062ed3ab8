// Runs the table of responses in each way in which their bytes can come.

import LupineWire
import Testing

@Suite("Response vectors")
struct ResponseVectorTests {
  @Test("a vector, fed whole", arguments: ResponseVector.all)
  func whole(_ vector: ResponseVector) {
    let transcript = vector.transcript([vector.bytes[...]])
    vector.check(transcript)
    if case .failure(let error) = vector.outcome { #expect(transcript.error == error) }
  }

  @Test("a vector, fed byte by byte", arguments: ResponseVector.all)
  func byteByByte(_ vector: ResponseVector) {
    vector.check(vector.transcript(vector.bytes.singly))
  }

  @Test("a vector, split in two at every place", arguments: ResponseVector.all)
  func everySplit(_ vector: ResponseVector) {
    // The few vectors above 512 bytes repeat one letter: there, some places stand for all.
    for split in stride(from: 0, through: vector.bytes.count, by: 1 + vector.bytes.count / 512) {
      vector.check(vector.transcript([vector.bytes[..<split], vector.bytes[split...]]))
    }
  }

  @Test(
    "a vector with another response behind it makes the connection unusable",
    arguments: ResponseVector.all.filter(\.endsWithoutClose))
  func anotherBehind(_ vector: ResponseVector) {
    let another = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc".latin1
    let bytes = vector.bytes + another
    vector.check(vector.transcript([bytes[...]]), close: .unsolicitedBytes)
    vector.check(vector.transcript([vector.bytes[...], another[...]]), close: .unsolicitedBytes)
    vector.check(vector.transcript(bytes.singly), close: .unsolicitedBytes)
  }

  @Test("no two vectors have one name")
  func distinct() {
    #expect(Set(ResponseVector.all.map(\.name)).count == ResponseVector.all.count)
    #expect(ResponseVector.all.count >= 150)
  }
}

extension ResponseVector {
  var endsWithoutClose: Bool {
    if case .response = outcome { !peerCloses } else { false }
  }

  func transcript(_ pieces: [ArraySlice<UInt8>]) -> Transcript {
    Transcript(of: pieces, method: method, peerCloses: peerCloses, limits: limits)
  }

  /// Compares with what is expected; `close` replaces the table's reason.
  func check(_ transcript: Transcript, close: CloseReason? = nil) {
    switch outcome {
    case .response(let expected):
      #expect(transcript.error == nil)
      #expect(transcript.isComplete)
      #expect(transcript.informational == expected.informational)
      #expect(transcript.head?.status == expected.status)
      #expect(transcript.head?.reason == expected.reason)
      if let fields = expected.fields { #expect(transcript.head?.fields.wireLines == fields) }
      #expect(String(decoding: transcript.body, as: UTF8.self) == expected.body)
      #expect(transcript.trailers.wireLines == expected.trailers)
      #expect(transcript.close == close ?? expected.close)
    case .failure(let expected):
      #expect(!transcript.isComplete)
      #expect(transcript.error?.agrees(with: expected) == true, "\(String(describing: transcript.error))")
    }
  }
}

extension WireError {
  /// Whether both say the same, but for how much of a reply that isn't HTTP had come.
  func agrees(with other: WireError) -> Bool {
    if case .notHTTP(let prefix) = self, case .notHTTP(let otherPrefix) = other {
      return otherPrefix.hasPrefix(prefix) || prefix.hasPrefix(otherPrefix)
    }
    return self == other
  }
}
