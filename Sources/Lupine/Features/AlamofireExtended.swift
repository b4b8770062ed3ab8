// The `af` namespace: what the module adds to types of others without filling their own list of members.

/// A value of another's type, seen through `af`.
public struct AlamofireExtension<ExtendedType> {
  /// The value itself.
  public private(set) var type: ExtendedType

  /// Wraps a value.
  public init(_ type: ExtendedType) {
    self.type = type
  }
}

/// A type whose additions stand under `af`.
public protocol AlamofireExtended {
  /// The type that is added to.
  associatedtype ExtendedType

  /// The additions to the type.
  static var af: AlamofireExtension<ExtendedType>.Type { get set }

  /// The additions to a value of it.
  var af: AlamofireExtension<ExtendedType> { get set }
}

// The setters ignore what they are given: they are there so that a mutating addition can be called through `af`.
extension AlamofireExtended {
  /// The additions to this type.
  public static var af: AlamofireExtension<Self>.Type {
    get { AlamofireExtension<Self>.self }
    set {}
  }

  /// The additions to this value.
  public var af: AlamofireExtension<Self> {
    get { AlamofireExtension(self) }
    set {}
  }
}
