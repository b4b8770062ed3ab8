// The `af` namespace, which contains Alamofire's extensions of types in other modules.

/// The namespace `af` of a value, whose members extend the value's type without being added to the type itself.
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
  /// The type whose extensions are in the namespace.
  associatedtype ExtendedType

  /// The namespace of the type's static extensions.
  static var af: AlamofireExtension<ExtendedType>.Type { get set }

  /// The namespace of a value's extensions.
  var af: AlamofireExtension<ExtendedType> { get set }
}

// The setters ignore their values. They exist so that mutating extensions can be called through `af`.
extension AlamofireExtended {
  /// The namespace of this type's static extensions.
  public static var af: AlamofireExtension<Self>.Type {
    get { AlamofireExtension<Self>.self }
    set {}
  }

  /// The namespace of this value's extensions.
  public var af: AlamofireExtension<Self> {
    get { AlamofireExtension(self) }
    set {}
  }
}
