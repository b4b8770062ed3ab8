// WithoutTrait: what programs see that use this library without its trait.

#if !Services
  /// The life cycle of an engine in a server. It needs the package trait `Services`, because it depends on swift-service-lifecycle.
  @available(*, unavailable, message: "add traits: [\"Services\"] to the .package(…) line of Lupine in Package.swift")
  public struct EngineService {}

  /// The settings of a client from a configuration. They need the package trait `Services`, because they depend on
  /// swift-configuration.
  @available(*, unavailable, message: "add traits: [\"Services\"] to the .package(…) line of Lupine in Package.swift")
  public struct ClientSettings {}
#endif
