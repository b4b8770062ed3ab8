// The header fields that go with every request unless it sets its own: Accept-Encoding, Accept-Language, User-Agent.

import Foundation

extension HTTPHeaders {
  /// `Accept-Encoding`, `Accept-Language` and `User-Agent` as ``HTTPHeader`` defines their defaults.
  public static let `default`: HTTPHeaders = [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent]
}

extension HTTPHeader {
  /// The content codings that responses are decoded from, the best one first.
  public static let defaultAcceptEncoding = acceptEncoding(qualityEncoded(["br", "gzip", "deflate"]))

  /// The languages that the process's environment asks for, at most six.
  ///
  /// The first variable that is set decides: `LANGUAGE`, `LC_ALL`, `LC_MESSAGES`, `LANG`. The environment is read once.
  public static let defaultAcceptLanguage = acceptLanguage(
    qualityEncoded(acceptedLanguages(environment: ProcessInfo.processInfo.environment)))

  /// The program and the system it runs on, such as `tool/1.2 (org.example.tool; build:7; Linux 6.8.0) Lupine/0.1.0`.
  ///
  /// What the main bundle does not tell, which on Linux is mostly everything but the program's name, is `Unknown`.
  public static let defaultUserAgent = userAgent(
    describeProduct(
      bundle: Bundle.main.infoDictionary ?? [:],
      executablePath: ProcessInfo.processInfo.arguments.first,
      system: ProcessInfo.processInfo.operatingSystemVersion))

  /// The languages in the order of preference, as RFC 5646 tags.
  static func acceptedLanguages(environment: [String: String]) -> [String] {
    let setting = ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"].lazy
      .compactMap { environment[$0] }
      .first { !$0.isEmpty }
    var tags: [String] = []
    for locale in (setting ?? "").split(separator: ":") {
      guard let tag = languageTag(locale: locale), !tags.contains(tag) else { continue }
      tags.append(tag)
    }
    return tags.isEmpty ? ["en"] : Array(tags.prefix(acceptedLanguagesMax))
  }

  /// The elements with a quality that falls by a tenth from 1.0 on (RFC 9110 §12.4.2).
  static func qualityEncoded(_ elements: [String]) -> String {
    elements.enumerated()
      .map { index, element in index == 0 ? "\(element);q=1.0" : "\(element);q=0.\(max(1, 10 - index))" }
      .joined(separator: ", ")
  }

  static func describeProduct(
    bundle: [String: Any], executablePath: String?, system: OperatingSystemVersion
  ) -> String {
    func entry(_ key: String) -> String? {
      (bundle[key] as? String).flatMap { $0.isEmpty ? nil : $0.fieldToken }
    }
    let unknown = "Unknown"
    let program = executablePath?.split(separator: "/").last.map { String($0).fieldToken }
    let name = entry("CFBundleExecutable") ?? program ?? unknown
    let version = entry("CFBundleShortVersionString") ?? unknown
    let identifier = entry("CFBundleIdentifier") ?? unknown
    let build = entry("CFBundleVersion") ?? unknown
    let kernel = "Linux \(system.majorVersion).\(system.minorVersion).\(system.patchVersion)"
    return "\(name)/\(version) (\(identifier); build:\(build); \(kernel)) Lupine/\(AFInfo.version)"
  }

  /// Languages in Accept-Language at most; a tenth of quality is taken for each, and Alamofire stops at six too.
  private static let acceptedLanguagesMax = 6

  /// `language[_territory][.codeset][@modifier]` (POSIX XBD §8.2) as a language tag, or nil if it cannot be one.
  private static func languageTag(locale: Substring) -> String? {
    let name = locale.prefix { $0 != "." && $0 != "@" }
    if name == "C" || name == "POSIX" { return "en" }
    let subtags = name.split(omittingEmptySubsequences: false) { $0 == "_" || $0 == "-" }
    // A subtag has 1 to 8 letters or digits (RFC 5646 §2.1); anything else in the variable is not a locale.
    let isTag = subtags.allSatisfy { subtag in
      (1...8).contains(subtag.utf8.count) && subtag.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
    return isTag ? subtags.joined(separator: "-") : nil
  }
}

extension String {
  /// The string with "_" for whatever may not stand in a token (RFC 9110 §5.6.2), such as blanks in a program's name.
  fileprivate var fieldToken: String {
    String(
      unicodeScalars.map { scalar -> Character in
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": Character(scalar)
        case "!", "#", "$", "%", "&", "'", "*", "+", "-", ".", "^", "_", "`", "|", "~": Character(scalar)
        default: "_"
        }
      })
  }
}
