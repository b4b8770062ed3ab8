// StreamReader: splits a streamed body into elements, such as events or lines, whatever the boundaries of its pieces.

import Foundation
import LupineEngine
import Synchronization

/// The elements that a piece of a body completes.
struct StreamBatch<Element: Sendable>: Sendable {
  /// The elements. One that can't be decoded is a failure.
  var elements: [Result<Element, AFError>] = []
  /// The error with which the request fails after these elements, because a limit was exceeded, or nil if there is none.
  var failure: AFError?

  /// Creates a batch with the elements that `read` appends, and with the error that it throws.
  fileprivate init(_ read: (inout [Result<Element, AFError>]) throws(EventStreamError) -> Void) {
    do throws(EventStreamError) {
      try read(&elements)
    } catch {
      failure = .responseSerializationFailed(reason: .customSerializationFailed(error: error))
    }
  }
}

/// Converts the pieces of one request's body to elements. A piece may contain any number of elements, or parts of one.
struct StreamReader<Element: Sendable>: Sendable {
  /// Returns the elements that `data` completes.
  let read: @Sendable (_ data: Data) -> StreamBatch<Element>
  /// Leaves the pieces as they are. Its `takeRest` is called at the end of a response.
  let end: any PieceAligner
}

extension StreamReader {
  /// Creates a reader of the events in a body. `map` converts an event to an element. From the event with the data `endMarker` on,
  /// no event is read.
  static func events(
    of stream: EventStream, endMarker: String?,
    _ map: @escaping @Sendable (ServerSentEvent) -> Result<Element, AFError>,
    atEnd: Element? = nil
  ) -> StreamReader {
    let source = EventSource(stream)
    return StreamReader(
      read: { data in
        StreamBatch { elements throws(EventStreamError) in
          try source.read(data) { event in
            guard endMarker == nil || event.data != endMarker else {
              if let atEnd { elements.append(.success(atEnd)) }
              return false
            }
            elements.append(map(event))
            return true
          }
        }
      }, end: RoundEnd { source.endRound() })
  }

  /// Creates a reader of the lines in a body. `map` converts a line without its ending to an element. Empty lines are skipped.
  static func lines(
    _ ending: LineSplitter.Ending, bytesMax: Int, _ map: @escaping @Sendable (Data) -> Result<Element, AFError>
  ) -> StreamReader {
    let source = LineSource(LineSplitter(ending, lineBytesMax: bytesMax))
    return StreamReader(
      read: { data in
        StreamBatch { elements throws(EventStreamError) in try source.read(data) { elements.append(map($0)) } }
      },
      // The last line of a response ends with it.
      end: RoundEnd { Data([UInt8(ascii: "\n")]) })
  }
}

/// Reports the end of a response, after which the next piece belongs to another one.
private struct RoundEnd: PieceAligner {
  /// Returns the bytes that end the response's last element, if any.
  let endRound: @Sendable () -> Data

  mutating func align(_ data: Data) -> Data { data }
  mutating func takeRest() -> Data { endRound() }
}

/// The events of a body for one handler. Each handler has its own parser, because it may be added later than others.
private final class EventSource: Sendable {
  private let stream: EventStream
  /// The parser, or nil after a limit was exceeded: no further bytes are read.
  private let parser: Mutex<EventStreamParser?>

  init(_ stream: EventStream) {
    self.stream = stream
    parser = Mutex(
      EventStreamParser(limits: stream.options?.limits ?? EventStreamLimits(), lastEventID: stream.lastEventID))
  }

  /// Calls `take` with each event that `data` completes, until it returns false.
  func read(_ data: Data, _ take: (ServerSentEvent) -> Bool) throws(EventStreamError) {
    guard stream.parses else { return }
    try parser.withLock { current throws(EventStreamError) in
      guard var parser = current.take() else { return }
      var index = 0
      var isEvent = false
      // Also if a limit is exceeded: the events before it have been read.
      defer { stream.note(parser, isEvent: isEvent) }
      while let event = try parser.next(in: data.span, from: &index) {
        isEvent = true
        guard take(event) else { return stream.end() }
      }
      current = parser
    }
  }

  func endRound() -> Data {
    parser.withLock { $0?.restart() }
    return Data()
  }
}

/// The lines of a body for one handler.
private final class LineSource: Sendable {
  /// The splitter, or nil after a limit was exceeded: no further bytes are read.
  private let splitter: Mutex<LineSplitter?>

  init(_ splitter: LineSplitter) { self.splitter = Mutex(splitter) }

  /// Calls `take` with each line that `data` completes, unless it is empty.
  func read(_ data: Data, _ take: (Data) -> Void) throws(EventStreamError) {
    try splitter.withLock { current throws(EventStreamError) in
      guard var splitter = current.take() else { return }
      var index = 0
      reading: while true {
        switch try splitter.next(in: data.span, from: &index) {
        case .needMoreBytes: break reading
        case .inPiece(let range):
          if !range.isEmpty { take(data[data.startIndex + range.lowerBound..<data.startIndex + range.upperBound]) }
        case .joined(let line):
          if !line.isEmpty { take(Data(line)) }
        }
      }
      current = splitter
    }
  }
}
