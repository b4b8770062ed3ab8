// WithoutTrait: what programs see that use this library without its trait.

#if !Bench
  /// The load generator. It needs the package trait `Bench`, because it depends on HdrHistogram.
  @available(*, unavailable, message: "add traits: [\"Bench\"] to the .package(…) line of Lupine in Package.swift")
  public struct LoadTest {}
#endif
