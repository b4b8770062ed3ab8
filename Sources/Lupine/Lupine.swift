// The entry point: `AF`, and the version.

@_exported public import LupineURLSession

/// The session that most programs use: `AF.request("https://…")`.
public let AF = Session.default

/// What the library says of itself.
public enum AFInfo {
  /// The version, by semantic versioning; part of the default User-Agent.
  public static let version = "0.1.0"
}
