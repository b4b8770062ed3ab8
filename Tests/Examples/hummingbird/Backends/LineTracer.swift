// LineTracer: prints spans, in place of a package that exports them.

import Synchronization
import Tracing

/// A tracer that prints each span as a line when it ends, and passes its identifiers on in the field `traceparent` (W3C Trace Context).
/// A service uses a package that exports to its collector instead.
package struct LineTracer: Tracer {
  package final class Span: Tracing.Span {
    private struct State {
      var name: String
      var attributes = SpanAttributes()
      var isRecording = true
    }

    package let context: ServiceContext
    private let ids: TraceIDs
    private let state: Mutex<State>

    init(_ name: String, childOf parent: ServiceContext) {
      ids = TraceIDs(childOf: parent[TraceIDs.Key.self])
      var context = parent
      context[TraceIDs.Key.self] = ids
      self.context = context
      state = Mutex(State(name: name))
    }

    package var operationName: String {
      get { state.withLock { $0.name } }
      set { state.withLock { $0.name = newValue } }
    }
    package var attributes: SpanAttributes {
      get { state.withLock { $0.attributes } }
      set { state.withLock { $0.attributes = newValue } }
    }
    package var isRecording: Bool { state.withLock { $0.isRecording } }
    package func setStatus(_ status: SpanStatus) {}
    package func addEvent(_ event: SpanEvent) {}
    package func addLink(_ link: SpanLink) {}
    package func recordError(
      _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> some TracerInstant
    ) {}

    package func end(at instant: @autoclosure () -> some TracerInstant) {
      let name = state.withLock { state in
        state.isRecording = false
        return state.name
      }
      print("span \"\(name)\" trace=\(ids.trace) span=\(ids.span) parent=\(ids.parent ?? "none")")
    }
  }

  package init() {}

  package func startSpan(
    _ name: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> some TracerInstant,
    function: String, file: String, line: UInt
  ) -> Span {
    Span(name, childOf: context())
  }

  /// Does nothing, because each span is printed when it ends.
  package func forceFlush() {}

  /// Reads the caller's identifiers.
  package func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {
    guard let text = extractor.extract(key: "traceparent", from: carrier) else { return }
    context[TraceIDs.Key.self] = TraceIDs(traceparent: text)
  }

  /// Adds the identifiers for the server that is called.
  package func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    guard let ids = context[TraceIDs.Key.self] else { return }
    injector.inject("00-\(ids.trace)-\(ids.span)-01", forKey: "traceparent", into: &carrier)
  }
}

/// The identifiers of a span, as hexadecimal digits.
struct TraceIDs: Sendable {
  enum Key: ServiceContextKey { typealias Value = TraceIDs }

  let trace: String
  let span: String
  let parent: String?

  init(childOf parent: TraceIDs?) {
    trace = parent?.trace ?? Self.digits(16)
    span = Self.digits(8)
    self.parent = parent?.span
  }

  /// Reads the identifiers of the caller's span. Is nil if the text has another form.
  init?(traceparent: String) {
    let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[1].utf8.count == 32, parts[2].utf8.count == 16 else { return nil }
    (trace, span, parent) = (String(parts[1]), String(parts[2]), nil)
  }

  private static func digits(_ byteCount: Int) -> String {
    (0..<byteCount).map { _ in
      let digits = String(UInt8.random(in: 0...255), radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
