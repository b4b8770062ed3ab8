// The `af` namespace, which contains Alamofire's extensions of types in other modules.

/// A namespace for extensions of a value.
public struct AlamofireExtension<ExtendedType> {
  /// The extended value.
  public private(set) var type: ExtendedType

  /// Creates the namespace of a value.
  public init(_ type: ExtendedType) {
    self.type = type
  }
}

/// A type with extensions in the `af` namespace.
public protocol AlamofireExtended {
  /// The extended type.
  associatedtype ExtendedType

  /// The extensions of the type.
  static var af: AlamofireExtension<ExtendedType>.Type { get set }

  /// The extensions of a value.
  var af: AlamofireExtension<ExtendedType> { get set }
}

// The setters ignore their values. They exist so that mutating extensions can be called through `af`.
extension AlamofireExtended {
  /// The extensions of this type.
  public static var af: AlamofireExtension<Self>.Type {
    get { AlamofireExtension<Self>.self }
    set {}
  }

  /// The extensions of this value.
  public var af: AlamofireExtension<Self> {
    get { AlamofireExtension(self) }
    set {}
  }
}
