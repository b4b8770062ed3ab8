// Writes a request as a curl command for bash. No word is changed by the shell, history expansion included, and curl
// sends the method, fields and body of the request.

import Foundation
import LupineURLSession

/// The curl command for `request`, with the fields of the session's configuration that the request doesn't set itself.
///
/// `credential` is what is shown to a server that asks, and `cookies` the value of the Cookie field if it differs from the
/// request's own.
///
/// The body is an argument if it can be one. With NUL in it, which no argument can hold, or from 128 KiB on, it is
/// written by bash's `printf` and read by curl through a process substitution. A body stream is left out.
func cURLDescription(
  of request: URLRequest, configuration configurationHeaders: HTTPHeaders, credential: URLCredential? = nil,
  cookies: String? = nil
) -> String {
  guard let url = request.url?.absoluteString else {
    return "The request has no URL, so there is no curl command for it. Set its url first."
  }
  let method = request.httpMethod ?? "GET"
  let body = request.httpBody ?? Data()

  var parts = ["$ curl -v"]
  parts.append("-X \(methodWord(method))")
  // A name with a colon can't be shown; curl would take what follows it for the password.
  if let credential, credential.basicAuthorization != nil, let user = credential.user,
    let password = credential.password
  {
    parts.append("-u \(shellWord("\(user):\(password)"))")
  }
  // Without it curl waits for the content that a HEAD response announces but never has.
  if method == HTTPMethod.head.rawValue, body.isEmpty { parts.append("--head") }

  var headers = configurationHeaders
  for header in request.headers { headers.update(header) }
  if let cookies {
    // curl ignores -b beside a field, and takes what has no "=" in it for a file's name.
    if headers["Cookie"] == nil, cookies.utf8.contains(UInt8(ascii: "=")) {
      parts.append("-b \(shellWord(cookies))")
    } else {
      headers.update(name: "Cookie", value: cookies)
    }
  }
  // With -H, curl takes what follows an @ for a file's name. No request is sent with such a name anyway.
  for header in headers where header.name.utf8.first != UInt8(ascii: "@") {
    // curl takes "Name:" as an order to remove the field; a semicolon sends it empty.
    let line = header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
    parts.append("-H \(shellWord(line))")
  }

  if !body.isEmpty { parts.append(bodyOption(body)) }
  // Brackets and braces in a URL are patterns for curl.
  if url.contains(where: { "[]{}".contains($0) }) { parts.append("--globoff") }
  parts.append(urlArgument(url))
  return parts.joined(separator: " \\\n\t")
}

/// The longest argument that Linux passes to a program, in bytes without the NUL: MAX_ARG_STRLEN, 32 pages of 4 KiB.
private let argumentBytesMax = 32 * 4_096 - 1

/// The URL, so that curl takes it for one whatever it begins with. Only one without a scheme, which no request can be sent
/// to, begins with anything but a letter.
private func urlArgument(_ url: String) -> String {
  switch url.utf8.first {
  // An option otherwise, such as -K, which reads a file.
  case UInt8(ascii: "-"): "--url \(shellWord(url))"
  // curl 8.13 and later take what follows an @ for the name of a file with URLs. It would assume http by itself.
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
  // With -d and --data-binary, curl takes what follows an @ for a file's name.
  let isFileName = body.first == UInt8(ascii: "@")
  if let text = String(validating: body, as: UTF8.self) {
    return "\(isFileName ? "--data-raw" : "-d") \(shellWord(text))"
  }
  return "\(isFileName ? "--data-raw" : "--data-binary") $'\(escaped(body, by: ansiCEscape))'"
}

/// `text` as one word for bash: in double quotes, or in `$'…'` if a terminal would act on a character in it.
private func shellWord(_ text: String) -> String {
  let hasControls = text.utf8.contains { ($0 < 0x20 && $0 != UInt8(ascii: "\n")) || $0 == 0x7F }
  if hasControls { return "$'\(escaped(text.utf8, by: ansiCEscape))'" }

  var word = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"", "\\", "$", "`":
      word += "\\"
      word.unicodeScalars.append(scalar)
    case "!":
      // A backslash before it would stay inside double quotes, so it stands outside them.
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

/// Whether neither bash nor printf gives the byte a meaning: printable ASCII without quote, backslash, percent sign,
/// exclamation mark, and the hyphen that would start an option of printf.
private func isPlain(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "%"), UInt8(ascii: "!"), UInt8(ascii: "-"): false
  default: (0x20..<0x7F).contains(byte)
  }
}

/// `\xHH` in `$'…'`; always two digits, so that no digit behind it is taken with it.
private func ansiCEscape(_ byte: UInt8) -> String {
  "\\x" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
}

/// `\NNN` in a printf format; always three octal digits.
private func printfEscape(_ byte: UInt8) -> String {
  let digits = String(byte, radix: 8)
  return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
}
