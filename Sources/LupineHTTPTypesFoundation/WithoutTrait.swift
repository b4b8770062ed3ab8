// WithoutTrait: what programs see that use this library without its trait.

#if !HTTPTypes
  /// The calls of sessions with the types of swift-http-types. They need the package trait `HTTPTypes`.
  @available(*, unavailable, message: "add traits: [\"HTTPTypes\"] to the .package(…) line of Lupine in Package.swift")
  public struct HTTPTypesCalls {}
#endif
