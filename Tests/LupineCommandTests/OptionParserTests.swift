// OptionParserTests: parsing of the command line. The tests are serialized, because getopt_long has global state.

import LupineAuthentication
@testable import LupineCommand
import LupineEngine
import LupineTestSupport
import Testing

@Suite("Parsing of the command line", .serialized)
struct OptionParserTests {
  private func options(_ arguments: String...) throws -> Options {
    guard case .transfer(_, let options) = try OptionParser.parse(["lupine"] + arguments + ["http://a/"]) else {
      throw CommandError(.other, "not a transfer")
    }
    return options
  }

  private func refusal(_ arguments: [String]) -> String? {
    do throws(CommandError) {
      _ = try OptionParser.parse(["lupine"] + arguments)
      return nil
    } catch {
      return error.code == .usage ? error.message : "code \(error.code)"
    }
  }

  @Test("the short, long and joined forms of a command-line option are equivalent")
  func forms() throws {
    let wanted = try options("--request", "PUT", "--output", "f", "--include")
    #expect(try options("-X", "PUT", "-o", "f", "-i") == wanted)
    #expect(try options("-I") == options("-X", "HEAD", "-i"))
    #expect(try options("--head") == options("-I"))
    #expect(try options("-XPUT", "-iof") == wanted)
    #expect(try options("--request=PUT", "--output=f", "--inc") == wanted)
  }

  @Test("--insecure doesn't turn verification off for a proxy, and --proxy-insecure doesn't for a server")
  func verification() throws {
    let server = try EngineConfiguration(try options("--insecure"))
    #expect(server.tls.verification == .none && server.proxyVerification == .full)
    let proxy = try EngineConfiguration(try options("--proxy-insecure"))
    #expect(proxy.tls.verification == .full && proxy.proxyVerification == .none)
  }

  @Test("command-line options may follow the URL, and -- ends the options")
  func order() throws {
    guard case .transfer(_, let options) = try OptionParser.parse(["lupine", "http://a/", "-i"]) else {
      throw CommandError(.other, "not a transfer")
    }
    #expect(options.includesHead)
    #expect(refusal(["http://a/", "--", "-v"]) == "only one URL is allowed, not 2: see lupine --help")
  }

  @Test(
    "the command treats a URL without a scheme as an http URL",
    arguments: [
      ("example.com", "http://example.com/"), ("localhost:8080/x", "http://localhost:8080/x"),
      ("h/?u=https://x", "http://h/?u=https://x"), ("u:p@h", "http://h/"), ("[::1]:80/a", "http://[::1]/a"),
      ("HTTPS://h", "https://h/"), ("127.0.0.1", "http://127.0.0.1/"),
    ])
  func scheme(text: String, uri: String) throws {
    #expect(try OptionParser.uri(text).description == uri)
  }

  @Test(
    "the command refuses an invalid command line with an error that states the reason",
    arguments: [
      ([], "a URL is missing: see lupine --help"),
      (["a", "b"], "only one URL is allowed, not 2: see lupine --help"),
      // A part of the URL or the field might be a secret.
      (
        ["http://u:se/cret@h/"],
        "the URL is invalid. Percent-encode special characters of its login, such as %2F, or pass --user: see lupine --help"
      ),
      (
        ["-H", "Authorization Bearer s3cret", "a"],
        "the field \"Authorization\" has neither a colon nor a semicolon at its end: see lupine --help"
      ),
      (["--foo", "a"], "--foo isn't an option: see lupine --help"),
      (["--foo=1", "a"], "--foo isn't an option: see lupine --help"),
      (["-q", "a"], "-q isn't an option: see lupine --help"),
      (["-é", "a"], "a non-ASCII letter isn't an option: see lupine --help"),
      (["--in", "a"], "--in is ambiguous: --include or --interface or --insecure: see lupine --help"),
      (["a", "-X"], "-X needs a value: see lupine --help"),
      (["a", "--max-time"], "--max-time needs a value: see lupine --help"),
      (["--include=1", "a"], "--include takes no value: see lupine --help"),
      (["-m", "0", "a"], "--max-time must be greater than 0 seconds: see lupine --help"),
      (["-m", "0.0000000001", "a"], "--max-time must be greater than 0 seconds: see lupine --help"),
      (
        ["-d", "a", "--json", "b", "c"], "--data, --json, --form and --upload-file can't be combined: see lupine --help"
      ),
      (["-H", "A", "a"], "the field \"A\" has neither a colon nor a semicolon at its end: see lupine --help"),
      (["-H", ": b", "a"], "a field has a value but no name: see lupine --help"),
      (
        ["-H", "Content-Length: 1", "a"],
        "Content-Length is derived from the body and can't be set by --header: see lupine --help"
      ),
      (["-H", "host:", "a"], "Host can't be omitted (RFC 9112 §3.2): see lupine --help"),
      (["-F", "a", "b"], "the form field \"a\" doesn't have the form NAME=CONTENT: see lupine --help"),
      (["-F", "a=@", "b"], "the form field \"a=@\" names no file: see lupine --help"),
      (["-F", "a=@f;x=y", "b"], "\"x=y\" in the form field a isn't type= or filename=: see lupine --help"),
      (
        ["-F", "a=<f;filename=y", "b"], "\"filename=y\" in the form field a isn't type= or filename=: see lupine --help"
      ),
      (
        ["-F", "a=@\"f;type=t", "b"], "the form field has an unterminated quoted string: \"f;type=t: see lupine --help"
      ),
      (
        ["-F", "a=@f;type=b\r\nc", "b"], "the type of the form field a contains a control character: see lupine --help"
      ),
      (["-d", "a", "-T", "f", "b"], "--data, --json, --form and --upload-file can't be combined: see lupine --help"),
      (["-T", "f", "-T", "g", "b"], "only one --upload-file is allowed; g is another: see lupine --help"),
      (
        ["--encode", "zip", "-d", "a", "b"],
        "--encode takes one of \(AcceptEncoding.command), not \"zip\": see lupine --help"
      ),
      (["--encode", "br", "b"], "--encode requires a body: see lupine --help"),
      (
        ["-x", "http://u:secret@h:0", "b"],
        "the proxy's URL: the port isn't a number from 1 to 65535. Use scheme://user:password@host:port."
      ),
      (
        ["--socks5", "socks5://h", "b"],
        "the options for SOCKS proxies take HOST:PORT; to use a URL, pass --proxy: see lupine --help"
      ),
      (["-U", "secret", "-x", "h", "b"], "--proxy-user takes USER:PASSWORD: see lupine --help"),
      (["-u", "secret", "b"], "--user takes USER:PASSWORD: see lupine --help"),
      (
        ["--oauth2-bearer", "secret\r\nX: y", "b"],
        "--oauth2-bearer takes a token of visible ASCII characters: see lupine --help"
      ),
      (
        ["-u", "a:b", "--oauth2-bearer", "secret", "b"],
        "--user and --oauth2-bearer can't be combined; remove one of them: see lupine --help"
      ),
      (
        ["-U", ":p", "--socks5", "h", "b"],
        "the proxy: SOCKS 5 requires a user name of 1 to 255 bytes and a password of at most 255 bytes (RFC 1929 §2). Correct "
          + "them, or omit both."
      ),
      (
        ["-U", "u:secret", "b"],
        "--proxy-user requires --proxy or --socks5; for a proxy of the environment, add the credentials to its URL: "
          + "see lupine --help"
      ),
      (
        ["-x", "h", "--unix-socket", "/s", "b"],
        "a Unix socket can't be combined with a proxy; remove one of the options: see lupine --help"
      ),
      (["--unix-socket", "", "b"], "--unix-socket takes 1 to 107 bytes: see lupine --help"),
      (
        ["--abstract-unix-socket", String(repeating: "a", count: 108), "b"],
        "--abstract-unix-socket takes 1 to 107 bytes: see lupine --help"
      ),
      (["--resolve", "a:1", "b"], "--resolve takes HOST:PORT:ADDRESS, not \"a:1\": see lupine --help"),
      (["--resolve", "+a:1:::1", "b"], "--resolve takes HOST:PORT:ADDRESS, not \"+a:1:::1\": see lupine --help"),
      (["--resolve", "a:0:::1", "b"], "--resolve takes HOST:PORT:ADDRESS, not \"a:0:::1\": see lupine --help"),
      (["--resolve", "a:1:::1,", "b"], "\"\" in --resolve isn't an address: see lupine --help"),
      (["--resolve", "a:1:[127.0.0.1]", "b"], "\"[127.0.0.1]\" in --resolve isn't an address: see lupine --help"),
      (
        ["--resolve", "127.0.0.1:1:::1", "b"],
        "--resolve needs a host name, and 127.0.0.1 is an address: see lupine --help"
      ),
      (
        ["--keepalive-time", "0", "b"], "--keepalive-time takes 1 to 32767 whole seconds, not \"0\": see lupine --help"
      ),
      (
        ["--keepalive-time", "32768", "b"],
        "--keepalive-time takes 1 to 32767 whole seconds, not \"32768\": see lupine --help"
      ),
      (["--cert-type", "DER", "-E", "f", "b"], "--cert-type takes PEM or P12, not \"DER\": see lupine --help"),
      (
        ["--pass", "secret", "b"],
        "--cert-type, --key and --pass require --cert: see lupine --help"
      ),
      (
        ["-E", "f", "--key", "g", "--cert-type", "P12", "b"],
        "a P12 file contains its private key; remove --key: see lupine --help"
      ),
      (
        ["-k", "--cert-status", "b"],
        "--cert-status can't be combined with --insecure; remove one of them: see lupine --help"
      ),
      (
        ["--tls-max", "1.2", "--tlsv1.3", "b"],
        "--tls-max is below --tlsv1.3, so no TLS version is allowed: see lupine --help"
      ),
      (
        ["--tls-max", "1.1", "b"],
        "TLS 1.1 isn't supported (RFC 8996); --tls-max takes 1.2, 1.3 or default: see lupine --help"
      ),
      (["--tls-max", "2", "b"], "--tls-max takes 1.2, 1.3 or default, not \"2\": see lupine --help"),
      (["ftp://a/"], "the URL is invalid: The scheme \"ftp\" isn't supported. Use http or https."),
      (["http://a:0/"], "the URL is invalid: \"0\" isn't a port. Use a number from 1 to 65535."),
      (["http:/a"], "the URL is invalid: two slashes must follow \"http:\". Write http://HOST/PATH."),
      (["HTTPS:/u:p@a"], "the URL is invalid: two slashes must follow \"https:\". Write https://HOST/PATH."),
      (["http:"], "the URL is invalid: two slashes must follow \"http:\". Write http://HOST/PATH."),
      (["--ws", "ws:/a"], "the URL is invalid: two slashes must follow \"ws:\". Write ws://HOST/PATH."),
    ])
  func refused(arguments: [String], message: String) {
    #expect(refusal(arguments) == message)
  }

  @Test(
    "a command-line option's number of seconds may have a decimal fraction",
    arguments: [
      ("1", Duration.seconds(1)), ("0.25", .milliseconds(250)), (".5", .milliseconds(500)), ("3.", .seconds(3)),
      ("000000002", .seconds(2)), ("0.0000000019", .nanoseconds(1)), ("999999999", .seconds(999_999_999)),
    ])
  func seconds(text: String, duration: Duration) throws {
    #expect(try options("-m", text).maxTime == duration)
    #expect(try options("--connect-timeout", text).connectTimeout == duration)
  }

  @Test(
    "the command refuses an option with an invalid number of seconds",
    arguments: ["", ".", "-1", "1e3", "0x1", "nan", "1,5", "1234567890", "1.2.3", "٣"])
  func notSeconds(text: String) {
    #expect(refusal(["-m", text, "a"])?.hasPrefix("--max-time takes a number of seconds") == true)
  }

  @Test("in the --cert option, the first unescaped colon separates the certificate's file name from its password")
  func certificate() throws {
    for (text, path, password) in [
      ("f", "f", nil), ("f:", "f", ""), ("f:a:b", "f", "a:b"), ("c\\:d:p", "c:d", "p"), ("a\\b\\\\c", "a\\b\\c", nil),
    ] as [(String, String, String?)] {
      let identity = try options("-E", text).identity
      #expect(identity.certificatePath == path && identity.password == password)
    }
    #expect(try options("--pass", "a", "-E", "f:b").identity.password == "b")
    #expect(try options("--pass", "a", "-E", "f").identity.password == "a")
  }

  @Test("the command applies its options to the engine's configuration")
  func configuration() throws {
    let plain = try EngineConfiguration(options())
    #expect(plain.socket == SocketOptions() && plain.tls.trustRoots == [.system] && plain.proxy == .environment)
    #expect(plain.tracer == nil && plain.socketPath == nil && plain.resolver.overrides.isEmpty)

    let changed = try EngineConfiguration(
      options(
        "--no-tcp-nodelay", "--keepalive-time", "7", "--interface", "::1", "--capath", "d", "--cacert", "f",
        "--crlfile", "l",
        "--tls13-ciphers", "a:b", "--curves", "c:d", "--ciphers", "e:f", "--cert-status", "--trace"))
    #expect(!changed.socket.noDelay)
    #expect(changed.socket.keepAlive == .init(idle: .seconds(7), interval: .seconds(7)))
    #expect(changed.socket.localAddress == SocketAddress(numeric: "::1", port: 0) && changed.socket.interface == nil)
    #expect(changed.tls.trustRoots == [.file("f"), .directory("d")] && changed.tls.revocationListFile == "l")
    #expect(changed.tls.cipherSuites == ["a", "b"] && changed.tls.groups == ["c", "d"])
    #expect(changed.tls.cipherList == "e:f" && changed.tls.ocspStapling == .required && changed.tracer != nil)

    let undone = try EngineConfiguration(
      options("--no-tcp-nodelay", "--tcp-nodelay", "--no-keepalive", "--interface", "::1", "--interface", "eth0", "-k"))
    #expect(undone.socket.noDelay && undone.socket.keepAlive == nil && undone.tls.verification == .none)
    #expect(undone.socket.localAddress == nil && undone.socket.interface == "eth0")
  }

  @Test(
    "--connect-timeout also limits the proxy's handshake, and --expect100-timeout the wait for 100 (Continue)")
  func timeouts() throws {
    let uri = try OptionParser.uri("http://a/")
    let timeouts = try EngineRequest(options("--connect-timeout", "3", "--expect100-timeout", "0.5"), to: uri).timeouts
    #expect(
      [timeouts.resolve, timeouts.connect, timeouts.proxy, timeouts.tls] == Array(repeating: .seconds(3), count: 4))
    #expect(timeouts.awaitContinue == .milliseconds(500))
  }

  @Test("the command's options for authentication schemes accumulate, and Basic is the default")
  func schemes() throws {
    #expect(try options("-u", "a:b:c").login == PasswordCredential(user: "a", password: "b:c"))
    #expect(try options("-u", "a:b").schemes.all == [.basic])
    #expect(try options().schemes.sendsPasswordFirst)
    #expect(try options("--basic", "--ntlm").schemes.all == [.basic, .ntlm])
    #expect(try options("--digest", "--anyauth").schemes.all == [.basic, .digest, .ntlm, .negotiate])
    let proxy = try options("--proxy-negotiate", "--proxy-digest", "--proxy-ntlm", "--proxy-basic")
    #expect(proxy.proxySchemes.all == [.basic, .digest, .ntlm, .negotiate] && proxy.schemes.all == [.basic])
    #expect(try options("--proxy-anyauth").proxySchemes == proxy.proxySchemes)
    let negotiate = try options("--negotiate").schemes
    #expect(!negotiate.sendsPasswordFirst)
    #expect(negotiate.credential(PasswordCredential(user: "a", password: "b")).user.isEmpty)
  }

  @Test("--netrc and --netrc-file require the file to exist, unless --netrc-optional is given")
  func netrc() throws {
    #expect(try options("-n").netrc.takesPrecedence)
    let file = try options("--netrc-file", "f").netrc
    #expect(file.takesPrecedence && file.path == "f")
    #expect(try options().netrc.takesPrecedence == false)
    #expect(try options("-n", "--netrc-optional").netrc.takesPrecedence == false)
  }

  @Test("-H adds a field, adds an empty field or removes a field, with the same syntax as curl")
  func fields() throws {
    let edits = try options("-H", "A:  b c ", "-H", "B;", "-H", "Accept:", "-H", "C: d:e").fieldEdits
    #expect(
      edits == [
        .add(name: "A", value: "b c "), .add(name: "B", value: ""), .remove(name: "Accept"),
        .add(name: "C", value: "d:e"),
      ])
  }

  @Test("--help and --version take precedence over any later options, but not over earlier invalid options")
  func help() throws {
    #expect(try OptionParser.parse(["lupine", "-h", "--foo"]) == .help)
    #expect(try OptionParser.parse(["lupine", "-V"]) == .version)
    #expect(refusal(["--foo", "-h"]) == "--foo isn't an option: see lupine --help")
  }
}
