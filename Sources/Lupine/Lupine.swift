// The entry point of the library: `AF`, the default session, and `AFInfo`, its version.

@_exported public import LupineFormats
@_exported public import LupineURLSession

/// The default session, which suits most programs.
///
/// ```swift
/// struct Profile: Decodable, Sendable { var name: String }
///
/// let profile = try await AF.request("https://example.org/profile")
///   .validate()
///   .serializingDecodable(Profile.self).value
/// ```
public let AF = Session.default

/// Information about the Lupine library.
public enum AFInfo {
  /// Lupine's semantic version, which is part of the default User-Agent field.
  public static let version = "0.1.0"
}
