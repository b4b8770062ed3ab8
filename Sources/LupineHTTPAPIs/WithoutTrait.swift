// WithoutTrait: what programs see that use this library without its trait, or with a compiler that is too old for it.

#if !HTTPAPIs
  /// The conformance of `Engine` to the protocol `HTTPClient` of swift-http-api-proposal. It needs the package trait `HTTPAPIs` and
  /// Swift 6.4.
  @available(*, unavailable, message: "add traits: [\"HTTPAPIs\"] to the .package(…) line of Lupine in Package.swift")
  public struct HTTPClientConformance {}
#elseif compiler(<6.4)
  #error("the trait HTTPAPIs of Lupine needs Swift 6.4, as swift-http-api-proposal does: use a newer compiler")
#endif
