// The `af` namespace, which contains Alamofire's extensions of types in other modules.

/// A wrapper of a value, returned by the value's property `af`. Extensions of the wrapper are called as `value.af.member`, so they
/// can't collide with the members of the value's own type.
public struct AlamofireExtension<ExtendedType> {
  /// The wrapped value, whose members the wrapper extends.
  public private(set) var type: ExtendedType

  /// Creates a wrapper of the value `type`.
  public init(_ type: ExtendedType) {
    self.type = type
  }
}

/// A type with extensions in the `af` namespace.
public protocol AlamofireExtended {
  /// The type whose extensions are called through `af`.
  associatedtype ExtendedType

  /// The wrapper's type, whose static members extend this type, as in `SecPolicy.af.default`.
  static var af: AlamofireExtension<ExtendedType>.Type { get set }

  /// The wrapper whose members extend this value, as in `trust.af.publicKeys`.
  var af: AlamofireExtension<ExtendedType> { get set }
}

// The setters ignore their values. They exist so that mutating extensions can be called through `af`.
extension AlamofireExtended {
  /// The wrapper's type, whose static members extend this type, as in `SecPolicy.af.default`.
  public static var af: AlamofireExtension<Self>.Type {
    get { AlamofireExtension<Self>.self }
    set {}
  }

  /// The wrapper whose members extend this value, as in `trust.af.publicKeys`.
  public var af: AlamofireExtension<Self> {
    get { AlamofireExtension(self) }
    set {}
  }
}
