// Engine+Observing: begins the observation of a call where its caller makes the request.

extension Engine {
  /// Makes the request part of a new call, if the engine is observed and the request isn't part of a call yet. Must be called on the
  /// caller's thread.
  @inline(__always)
  func observe(_ request: inout EngineRequest) {
    if let observer { Self.begin(&request, observer) }
  }

  @inline(never)
  private static func begin(_ request: inout EngineRequest, _ observer: any EngineObserver) {
    guard request.callObserver == nil, request.streamSink == nil else { return }
    request.callObserver = observer.callBegan()
  }
}
