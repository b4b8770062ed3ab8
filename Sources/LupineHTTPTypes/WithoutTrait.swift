// WithoutTrait: what programs see that use this library without its trait.

#if !HTTPTypes
  /// The error of a conversion. It needs the package trait `HTTPTypes`, like all of this library, which depends on
  /// swift-http-types.
  @available(*, unavailable, message: "add traits: [\"HTTPTypes\"] to the .package(…) line of Lupine in Package.swift")
  public struct HTTPTypesError {}
#endif
