// The command line as it is understood. getopt_long keeps its place in globals, so these run one after the other.

@testable import LupineCommand
import LupineEngine
import Testing

@Suite("Options", .serialized)
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

  @Test("short, long and joined forms mean the same")
  func forms() throws {
    let wanted = try options("--request", "PUT", "--output", "f", "--include")
    #expect(try options("-X", "PUT", "-o", "f", "-i") == wanted)
    #expect(try options("-XPUT", "-iof") == wanted)
    #expect(try options("--request=PUT", "--output=f", "--inc") == wanted)
  }

  @Test("options may follow the URL, and -- ends them")
  func order() throws {
    guard case .transfer(_, let options) = try OptionParser.parse(["lupine", "http://a/", "-i"]) else {
      throw CommandError(.other, "not a transfer")
    }
    #expect(options.includesHead)
    #expect(refusal(["http://a/", "--", "-v"]) == "one URL at a time, not also -v: see lupine --help")
  }

  @Test(
    "a URL without a scheme is http",
    arguments: [
      ("example.com", "http://example.com/"), ("localhost:8080/x", "http://localhost:8080/x"),
      ("h/?u=https://x", "http://h/?u=https://x"), ("u:p@h", "http://h/"), ("[::1]:80/a", "http://[::1]/a"),
      ("HTTPS://h", "https://h/"), ("127.0.0.1", "http://127.0.0.1/"),
    ])
  func scheme(text: String, uri: String) throws {
    #expect(try OptionParser.uri(text).description == uri)
  }

  @Test(
    "a wrong command line is refused with its reason",
    arguments: [
      ([], "a URL is missing: see lupine --help"),
      (["a", "b"], "one URL at a time, not also b: see lupine --help"),
      (["--foo", "a"], "--foo isn't an option: see lupine --help"),
      (["--foo=1", "a"], "--foo isn't an option: see lupine --help"),
      (["-q", "a"], "-q isn't an option: see lupine --help"),
      (["-é", "a"], "a letter outside ASCII isn't an option: see lupine --help"),
      (["--in", "a"], "--in could be --include or --insecure: see lupine --help"),
      (["a", "-X"], "-X needs a value: see lupine --help"),
      (["a", "--max-time"], "--max-time needs a value: see lupine --help"),
      (["--include=1", "a"], "--include takes no value: see lupine --help"),
      (["-m", "0", "a"], "--max-time has to be more than 0 seconds: see lupine --help"),
      (["-m", "0.0000000001", "a"], "--max-time has to be more than 0 seconds: see lupine --help"),
      (["-d", "a", "--json", "b", "c"], "--data, --json and --form can't be mixed: see lupine --help"),
      (["-H", "A", "a"], "the field \"A\" has neither a colon nor a final semicolon: see lupine --help"),
      (["-H", ": b", "a"], "the field \": b\" has no name: see lupine --help"),
      (
        ["-H", "Content-Length: 1", "a"],
        "Content-Length follows from the body, so that --header can't set it: see lupine --help"
      ),
      (["-H", "host:", "a"], "Host can't be left out (RFC 9112 §3.2): see lupine --help"),
      (["-F", "a", "b"], "the form field \"a\" isn't of the form NAME=CONTENT: see lupine --help"),
      (["-F", "a=@", "b"], "the form field \"a=@\" names no file: see lupine --help"),
      (["-F", "a=@f;x=y", "b"], "\"x=y\" in the form field a isn't type= or filename=: see lupine --help"),
      (
        ["-F", "a=<f;filename=y", "b"], "\"filename=y\" in the form field a isn't type= or filename=: see lupine --help"
      ),
      (["-F", "a=@\"f;type=t", "b"], "the form field ends within quotes: \"f;type=t: see lupine --help"),
      (["-F", "a=@f;type=b\r\nc", "b"], "the type of the form field a has a control character: see lupine --help"),
      (["ftp://a/"], "the URL can't be used: The scheme \"ftp\" isn't supported. Use http or https."),
      (["http://a:0/"], "the URL can't be used: \"0\" isn't a port. Use a number from 1 to 65535."),
    ])
  func refused(arguments: [String], message: String) {
    #expect(refusal(arguments) == message)
  }

  @Test(
    "seconds are decimal numbers with fractions",
    arguments: [
      ("1", Duration.seconds(1)), ("0.25", .milliseconds(250)), (".5", .milliseconds(500)), ("3.", .seconds(3)),
      ("000000002", .seconds(2)), ("0.0000000019", .nanoseconds(1)), ("999999999", .seconds(999_999_999)),
    ])
  func seconds(text: String, duration: Duration) throws {
    #expect(try options("-m", text).maxTime == duration)
    #expect(try options("--connect-timeout", text).connectTimeout == duration)
  }

  @Test(
    "what isn't such a number is refused",
    arguments: ["", ".", "-1", "1e3", "0x1", "nan", "1,5", "1234567890", "1.2.3", "٣"])
  func notSeconds(text: String) {
    #expect(refusal(["-m", text, "a"])?.hasPrefix("--max-time takes a number of seconds") == true)
  }

  @Test("fields are added, emptied and left out as in curl")
  func fields() throws {
    let edits = try options("-H", "A:  b c ", "-H", "B;", "-H", "Accept:", "-H", "C: d:e").fieldEdits
    #expect(
      edits == [
        .add(name: "A", value: "b c "), .add(name: "B", value: ""), .remove(name: "Accept"),
        .add(name: "C", value: "d:e"),
      ])
  }

  @Test("help and version win over what follows them, and errors before them win")
  func help() throws {
    #expect(try OptionParser.parse(["lupine", "-h", "--foo"]) == .help)
    #expect(try OptionParser.parse(["lupine", "-V"]) == .version)
    #expect(refusal(["--foo", "-h"]) == "--foo isn't an option: see lupine --help")
  }
}
