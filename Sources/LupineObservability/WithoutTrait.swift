// WithoutTrait: what programs see that use this library without its trait.

#if !Observability
  /// The settings for traces, metrics and logs. They need the package trait `Observability`, because they depend on
  /// swift-distributed-tracing, swift-metrics and swift-log.
  @available(
    *, unavailable, message: "add traits: [\"Observability\"] to the .package(…) line of Lupine in Package.swift"
  )
  public struct Observability {}
#endif
