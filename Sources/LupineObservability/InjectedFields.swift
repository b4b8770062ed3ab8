// InjectedFields: the request fields that propagate a span's context.

#if Observability
  internal import LupineEngine
  internal import LupineWire
  internal import Tracing

  /// The fields that an instrument adds to a request. Fields of the caller are never replaced or repeated.
  struct InjectedFields {
    private let own: Fields
    private(set) var added = Fields()

    /// Returns the fields with which `instrument` propagates a context.
    static func fields(for context: ServiceContext, _ request: EngineRequest, _ instrument: any Instrument) -> Fields {
      var carrier = InjectedFields(own: request.fields)
      instrument.inject(context, into: &carrier, using: FieldInjector())
      // A trace's state without its parent would continue the caller's trace with the state of another one.
      if request.fields.contains("traceparent") { carrier.added.remove("tracestate") }
      return carrier.added
    }

    fileprivate mutating func add(_ value: String, _ name: String) {
      if !own.contains(name) { added.append(name: name, value: value) }
    }
  }

  private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout InjectedFields) { carrier.add(value, key) }
  }
#endif
