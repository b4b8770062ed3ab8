// FuzzOptionsTests: the command line of `lupine fuzz`, and the targets that it allows.

@testable import LupineCommand
import LupineEngine
import Testing

@Suite("Command-line options of lupine fuzz")
struct FuzzOptionsTests {
  @Test("the fuzz command accepts options before and after the URL, in their short and long forms")
  func spellings() throws {
    let arguments = [
      "--seed=5", "http://localhost:8080/a", "--count", "7", "--rate", "9", "--timeout", "0.5", "-H", "A: b", "-d", "x",
      "-k",
    ]
    let options = try #require(try FuzzOptions.parse(arguments, randomSeed: 1))
    #expect(options.seed == 5 && options.count == 7 && options.rate == 9 && options.timeout == .milliseconds(500))
    #expect(options.edits == [.add(name: "A", value: "b")] && options.body == Array("x".utf8))
    #expect(options.skipsVerification && options.only == nil)
    #expect(options.shaping == ["-H", "A: b", "-d", "x", "-k"])
    #expect(try FuzzOptions.parse(["localhost"], randomSeed: 77)?.seed == 77)
    #expect(try FuzzOptions.parse(["-h"], randomSeed: 1) == nil)
  }

  @Test(
    "the fuzz command refuses an invalid command line",
    arguments: [
      ([], "a URL is missing"), (["a", "localhost"], "only one URL is allowed, not 2"),
      (["--count", "0", "localhost"], "--count takes 1 to 1000000, not \"0\""),
      (["--count", "1000001", "localhost"], "--count takes 1 to 1000000, not \"1000001\""),
      (["--rate", "401", "localhost"], "--rate takes 1 to 400, not \"401\""),
      (["--seed", "-1", "localhost"], "--seed takes a whole number, not \"-1\""),
      (["--rate"], "--rate needs a value"), (["--print=1", "localhost"], "--print takes no value"),
      (["--print", "localhost"], "--print requires --only NUMBER"),
      (["--loud", "localhost"], "--loud isn't an option"),
      (["--minimize", "1001", "localhost"], "--minimize takes 0 to 1000, not \"1001\""),
      (["--desync", "--only", "1", "localhost"], "--desync and --only can't be combined"),
      (["--desync", "--against", "localhost", "localhost"], "--desync and --against can't be combined"),
      (["--desync", "-X", "HEAD", "localhost"], "--desync can't use HEAD, whose responses have no content"),
      (
        ["--against", "http://192.0.2.1/", "localhost"],
        "192.0.2.1 isn't this machine; pass --allow-remote if its operator agrees"
      ),
      (["http://192.0.2.1/"], "192.0.2.1 isn't this machine; pass --allow-remote if its operator agrees"),
    ])
  func refused(arguments: [String], reason: String) {
    #expect(throws: CommandError(.usage, "\(reason): see lupine fuzz --help")) {
      try FuzzOptions.parse(arguments, randomSeed: 1)
    }
  }

  @Test(
    "the fuzz command refuses targets other than loopback without --allow-remote",
    arguments: [
      ("http://127.0.0.1", true), ("http://127.9.8.7:1", true), ("http://[::1]", true), ("http://localhost", true),
      ("http://a.localhost", true), ("http+unix://%2Frun%2Fs", true), ("http://128.0.0.1", false),
      ("http://[::2]", false), ("http://[::ffff:127.0.0.1]", false), ("http://localhost.test", false),
      ("http://127.0.0.1.test", false), ("http://0.0.0.0", false),
    ])
  func loopback(url: String, isLocal: Bool) throws {
    #expect(FuzzOptions.isLoopback(try URI(url).origin) == isLocal)
    #expect((try? FuzzOptions.parse([url], randomSeed: 1)) != nil || !isLocal)
    #expect(try FuzzOptions.parse(["--allow-remote", url], randomSeed: 1) != nil)
  }
}
