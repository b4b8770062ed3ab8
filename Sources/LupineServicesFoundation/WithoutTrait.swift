// WithoutTrait: what programs see that use this library without its trait.

#if !Services
  /// The life cycle of a session in a server. It needs the package trait `Services`, because it depends on swift-service-lifecycle.
  @available(*, unavailable, message: "add traits: [\"Services\"] to the .package(…) line of Lupine in Package.swift")
  public struct SessionService {}
#endif
