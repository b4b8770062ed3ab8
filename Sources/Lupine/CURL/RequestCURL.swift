// `cURLDescription`: writes a request as a curl command for bash. The shell passes each word to curl unchanged, without even
// history expansion, and curl sends the request's method, fields and body.

import Foundation
package import LupineURLSession

/// Returns a curl command that sends `request`. The command includes the header fields of the session's configuration, except those
/// that `request` sets itself.
///
/// `credential` is the credential that answers challenges. `cookies` is the value of the Cookie field that the session would send,
/// or nil to use the request's own field. If `namesGET` is false, the option -X is omitted for a GET without a body, because GET is
/// curl's default.
///
/// The body is an argument if possible. If it contains NUL bytes, which an argument can't contain, or has 128 KiB or more,
/// bash's `printf` writes the body, and curl reads it through a process substitution. A body stream is omitted.
package func cURLDescription(
  of request: URLRequest, configuration configurationHeaders: HTTPHeaders, credential: URLCredential? = nil,
  cookies: String? = nil, namesGET: Bool = true
) -> String {
  guard let url = request.url?.absoluteString else {
    return "The request has no URL, so there is no curl command for it. Set its url first."
  }
  let method = request.httpMethod ?? "GET"
  let body = request.httpBody ?? Data()

  var parts = ["$ curl -v"]
  if namesGET || method != "GET" || !body.isEmpty { parts.append("-X \(methodWord(method))") }
  // A credential is omitted if its user name contains a colon, because curl would treat the text after the colon as the password.
  if let credential, credential.basicAuthorization != nil, let user = credential.user,
    let password = credential.password
  {
    parts.append("-u \(shellWord("\(user):\(password)"))")
  }
  // Without --head, curl would wait for the content that a HEAD response announces but doesn't have.
  if method == HTTPMethod.head.rawValue, body.isEmpty { parts.append("--head") }

  var headers = configurationHeaders
  for header in request.headers { headers.update(header) }
  if let cookies {
    // curl ignores -b if there is a Cookie field, and treats a value without "=", or the text after an @, as a file name.
    if headers["Cookie"] == nil, cookies.utf8.contains(UInt8(ascii: "=")), cookies.utf8.first != UInt8(ascii: "@") {
      parts.append("-b \(shellWord(cookies))")
    } else {
      headers.update(name: "Cookie", value: cookies)
    }
  }
  // Skips fields whose name starts with @, because with -H, curl treats the text after an @ as a file name. Requests with such
  // a field name are never sent.
  for header in headers where header.name.utf8.first != UInt8(ascii: "@") {
    // curl removes the field for "Name:", but sends it empty for "Name;".
    let line = header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
    parts.append("-H \(shellWord(line))")
  }

  if !body.isEmpty { parts.append(bodyOption(body)) }
  // curl treats brackets and braces in a URL as patterns.
  if url.contains(where: { "[]{}".contains($0) }) { parts.append("--globoff") }
  parts.append(urlArgument(url))
  return parts.joined(separator: " \\\n\t")
}

/// The maximum length of a program's argument on Linux, in bytes without the NUL: MAX_ARG_STRLEN, 32 pages of 4 KiB.
private let argumentBytesMax = 32 * 4_096 - 1

/// Returns the shell argument that passes `url` to curl, in a form that curl can't mistake for an option or a file name. Only a URL
/// without a scheme needs a special form, because a scheme begins with a letter.
private func urlArgument(_ url: String) -> String {
  switch url.utf8.first {
  // Without --url, curl would treat the text as an option, such as -K, which reads a file.
  case UInt8(ascii: "-"): "--url \(shellWord(url))"
  // curl 8.13 and later treat the text after an @ as the name of a file with URLs. http is curl's default scheme.
  case UInt8(ascii: "@"): shellWord("http://\(url)")
  default: shellWord(url)
  }
}

private func methodWord(_ method: String) -> String {
  let isPlain = !method.isEmpty && method.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
  return isPlain ? method : shellWord(method)
}

private func bodyOption(_ body: Data) -> String {
  if body.count > argumentBytesMax || body.contains(0) {
    return "--data-binary @<(printf '\(escaped(body, by: printfEscape))')"
  }
  // With -d and --data-binary, curl treats the text after an @ as a file name.
  let isFileName = body.first == UInt8(ascii: "@")
  if let text = String(validating: body, as: UTF8.self) {
    return "\(isFileName ? "--data-raw" : "-d") \(shellWord(text))"
  }
  return "\(isFileName ? "--data-raw" : "--data-binary") $'\(escaped(body, by: ansiCEscape))'"
}

/// Returns `text` as one bash word: in double quotes, or in `$'…'` if it has tabs or other characters that a terminal would
/// interpret, except for line feeds.
private func shellWord(_ text: String) -> String {
  if text.unicodeScalars.contains(where: { (ReadableText.controlsTerminal($0) && $0 != "\n") || $0 == "\t" }) {
    return "$'\(escaped(text.utf8, by: ansiCEscape))'"
  }

  var word = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"", "\\", "$", "`":
      word += "\\"
      word.unicodeScalars.append(scalar)
    case "!":
      // A backslash before the "!" would be literal within double quotes, so both are written outside them.
      word += "\"\\!\""
    default:
      word.unicodeScalars.append(scalar)
    }
  }
  return word + "\""
}

private func escaped(_ bytes: some Sequence<UInt8>, by escape: (UInt8) -> String) -> String {
  var text = ""
  for byte in bytes {
    if isPlain(byte) {
      text.unicodeScalars.append(Unicode.Scalar(byte))
    } else {
      text += escape(byte)
    }
  }
  return text
}

/// Returns whether bash and `printf` output `byte` unchanged without escaping. This is true for printable ASCII except quotes,
/// backslashes, percent signs, exclamation marks and hyphens. A hyphen would start an option of `printf`.
private func isPlain(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "%"), UInt8(ascii: "!"), UInt8(ascii: "-"): false
  default: (0x20..<0x7F).contains(byte)
  }
}

/// Returns `byte` as the escape `\xHH` for bash's `$'…'`, always with two hex digits, so that bash doesn't include a following
/// digit.
private func ansiCEscape(_ byte: UInt8) -> String {
  "\\x" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
}

/// Returns `byte` as the escape `\NNN` for a format string of `printf`, always with three octal digits.
private func printfEscape(_ byte: UInt8) -> String {
  let digits = String(byte, radix: 8)
  return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
}
