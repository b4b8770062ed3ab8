// HTTPHeader+Defaults: the default Accept-Encoding, Accept-Language and User-Agent fields, sent unless a request sets its own.

import Foundation
import LupineURLSession

extension HTTPHeaders {
  /// The header fields that sessions send by default: `Accept-Encoding`, `Accept-Language` and `User-Agent`.
  public static let `default`: HTTPHeaders = [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent]
}

extension HTTPHeader {
  /// An `Accept-Encoding` field with the supported content codings, in order of preference.
  public static let defaultAcceptEncoding = acceptEncoding(EngineClient.acceptEncoding)

  /// An `Accept-Language` field with the languages from the process's environment: at most six, or `en` if the environment names
  /// none.
  ///
  /// The languages come from the first of the variables `LANGUAGE`, `LC_ALL`, `LC_MESSAGES` and `LANG` that is set. The
  /// environment is read once.
  public static let defaultAcceptLanguage = acceptLanguage(
    qualityEncoded(acceptedLanguages(environment: ProcessInfo.processInfo.environment)))

  /// A `User-Agent` field that names the program and the system, such as `tool/1.2 (org.example.tool; build:7; Linux 6.8.0)
  /// Lupine/0.1.0`.
  ///
  /// Values that the main bundle lacks are written as `Unknown`. On Linux, the bundle usually has only the program's name.
  public static let defaultUserAgent = userAgent(
    describeProduct(
      bundle: Bundle.main.infoDictionary ?? [:],
      executablePath: ProcessInfo.processInfo.arguments.first,
      system: ProcessInfo.processInfo.operatingSystemVersion))

  /// Returns the languages that the environment variables in `environment` name, in order of preference, as RFC 5646 tags. If they
  /// name no language, returns `en`.
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

  /// Returns a comma-separated list of `elements`. Their quality values decrease from 1.0 in steps of 0.1, but not below 0.1 (RFC
  /// 9110 §12.4.2).
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

  /// The maximum number of languages in Accept-Language: 6, as in Alamofire. The quality decreases by 0.1 for each language.
  private static let acceptedLanguagesMax = 6

  /// Converts `language[_territory][.codeset][@modifier]` (POSIX XBD §8.2) to a language tag. Returns nil if `locale` doesn't have
  /// this form.
  private static func languageTag(locale: Substring) -> String? {
    let name = locale.prefix { $0 != "." && $0 != "@" }
    if name == "C" || name == "POSIX" { return "en" }
    let subtags = name.split(omittingEmptySubsequences: false) { $0 == "_" || $0 == "-" }
    // A subtag has 1 to 8 letters or digits (RFC 5646 §2.1).
    let isTag = subtags.allSatisfy { subtag in
      (1...8).contains(subtag.utf8.count) && subtag.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
    return isTag ? subtags.joined(separator: "-") : nil
  }
}

extension String {
  /// This string with "_" in place of each character that a token can't contain (RFC 9110 §5.6.2), such as a space.
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
