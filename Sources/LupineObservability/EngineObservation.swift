// EngineObservation: observes an engine: begins the observation of each call, and records the metrics of connections.

#if Observability
  internal import CoreMetrics
  internal import Logging
  internal import LupineEngine
  internal import LupineReactor
  internal import LupineWire
  internal import Tracing

  /// The observer of an engine with these settings.
  final class EngineObservation: EngineObserver {
    let settings: Observability
    /// The factory that was current when the observer was created.
    private let initialFactory: any MetricsFactory

    init(_ settings: Observability) {
      self.settings = settings
      initialFactory = MetricsSystem.factory
    }

    func callBegan() -> any CallObserver { CallObservation(settings) }

    // MARK: Connections

    var observesConnections: Bool {
      !settings.additionalMetrics.isDisjoint(
        with: [.openConnections, .connectionDuration, .waitingRequests, .openingConnections])
    }

    func connectionsChanged(to origin: Origin, by change: ConnectionNumbers) {
      let dimensions = dimensions(of: origin)
      for (state, difference) in [("idle", change.idle), ("active", change.active)] {
        add(
          difference, .openConnections, "http.client.open_connections", dimensions + [("http.connection.state", state)])
      }
      add(change.waiting, .waitingRequests, "lupine.client.waiting_requests", dimensions)
      add(change.opening, .openingConnections, "lupine.client.opening_connections", dimensions)
    }

    func connectionClosed(to origin: Origin, peer: SocketAddress?, after duration: Duration) {
      guard settings.additionalMetrics.contains(.connectionDuration) else { return }
      let dimensions = dimensions(of: origin) + (peer.map { [("network.peer.address", $0.host)] } ?? [])
      Recorder(label: "http.client.connection.duration", dimensions: dimensions, factory: factory)
        .record(duration.inSeconds)
    }

    private func dimensions(of origin: Origin) -> [(String, String)] {
      ServerAddress(origin).dimensions + [("url.scheme", origin.scheme.rawValue)]
    }

    private func add(
      _ difference: Int, _ metric: Observability.AdditionalMetric, _ label: String, _ dimensions: [(String, String)]
    ) {
      guard difference != 0, settings.additionalMetrics.contains(metric) else { return }
      let meter = Meter(label: label, dimensions: dimensions, factory: factory)
      if difference > 0 { meter.increment(by: Double(difference)) } else { meter.decrement(by: Double(-difference)) }
    }

    // A program may bootstrap its metrics after it has set up the engine.
    private var factory: any MetricsFactory {
      settings.metricsFactory ?? (initialFactory is NOOPMetricsHandler ? MetricsSystem.factory : initialFactory)
    }
  }

  extension Duration {
    var inSeconds: Double { self / .seconds(1) }
  }
#endif
