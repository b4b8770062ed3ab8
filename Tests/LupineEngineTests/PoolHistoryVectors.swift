// Histories of the pool as tables: what happens, and what it answers.

extension PoolHistory {
  static let serving = [
    PoolHistory(
      "a connection is opened, used, kept and used again",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"), ("acquire a 2", "use 1"),
        ("release 1", "idle"), ("count", "1"),
      ]),
    PoolHistory(
      "the newest idle connection is used first",
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("release 2", "idle"), ("at 1", ""), ("release 1", "idle"),
        ("acquire a 3", "use 1"),
        ("acquire a 4", "use 2"),
      ]),
    PoolHistory(
      "beyond the limit exchanges wait, and are served in order",
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("acquire a 3", "wait"),
        ("acquire a 4", "wait"),
        ("opened 1", "use 1 by 1"), ("opened 2", "use 2 by 2"), ("release 2", "use 2 by 3"),
        ("release 1", "use 1 by 4"), ("release 2", "idle"), ("count", "2"),
      ]),
    PoolHistory(
      "an opened connection serves who waits longest, whoever asked for it",
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("opened 2", "use 2 by 1"),
        ("opened 1", "use 1 by 2"),
      ]),
    PoolHistory(
      "a freed connection serves who waits longest, and what was being opened for it is kept",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1", "use 1 by 2"), ("opened 2", "idle"), ("acquire a 3", "use 2"), ("count", "2"),
      ]),
    PoolHistory(
      "a connection that closes makes room for who waits",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "wait"),
        ("acquire a 3", "wait"),
        ("release 1 serverAskedForClose", "close 1 serverAskedForClose; connect 2 for 2"),
        ("opened 2", "use 2 by 2"), ("release 2 exchangeFailed", "close 2 exchangeFailed; connect 3 for 3"),
        ("count", "1"),
      ]),
    PoolHistory(
      "an exchange that waits already keeps its connection to come when another one closes",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1 bodyEndsWithClose", "close 1 bodyEndsWithClose"), ("opened 2", "use 2 by 2"),
      ]),
    PoolHistory(
      "keys have limits, waiters and idle connections of their own",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire b 2", "connect 2 for 2"), ("acquire c 3", "connect 3 for 3"),
        ("acquire d 4", "connect 4 for 4"), ("acquire a 5", "wait"), ("opened 2", "use 2 by 2"), ("release 2", "idle"),
        ("opened 3", "use 3 by 3"), ("release 3", "idle"), ("opened 1", "use 1 by 1"), ("acquire d 6", "wait"),
        ("acquire c 7", "use 3"), ("release 1", "use 1 by 5"), ("opened 4", "use 4 by 4"), ("count", "4"),
      ]),
  ]

  static let ending = [
    PoolHistory(
      "a failure to open ends the exchange that asked, and no other",
      max: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("acquire a 3", "wait"),
        ("failed 2", "fail 2; connect 3 for 3"), ("opened 1", "use 1 by 1"), ("failed 3", "fail 3"),
        ("count", "1"),
      ]),
    PoolHistory(
      "a failure to open a connection that nobody needs any more fails nobody",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1", "use 1 by 2"), ("failed 2", ""), ("count", "1"),
      ]),
    PoolHistory(
      "whoever came while a needless connection was opened isn't failed by it, but gets its own",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1", "use 1 by 2"), ("acquire a 3", "wait"), ("failed 2", "connect 3 for 3"),
        ("opened 3", "use 3 by 3"),
      ]),
    PoolHistory(
      "cancelling the only one who needs it gives a connection up",
      [
        ("acquire a 1", "connect 1 for 1"), ("cancel 1", "abandon 1"), ("count", "0"),
      ]),
    PoolHistory(
      "a connection whose asker is cancelled goes to who waits longest without one",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "wait"), ("acquire a 3", "wait"), ("cancel 1", ""),
        ("failed 1", "fail 2; connect 2 for 3"), ("cancel 3", "abandon 2"), ("count", "0"),
      ]),
    PoolHistory(
      "cancelling one that has no connection to come closes none",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "wait"), ("cancel 2", ""), ("opened 1", "use 1 by 1"),
        ("release 1", "idle"), ("count", "1"),
      ]),
    PoolHistory(
      "cancelling twice, or what was served already, does nothing",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("cancel 1", ""),
        ("acquire a 2", "connect 2 for 2"),
        ("cancel 2", "abandon 2"), ("cancel 2", ""), ("cancel 1", ""), ("count", "1"),
      ]),
  ]

  static let resting = [
    PoolHistory(
      "idle connections beyond their limit close, the oldest first",
      max: 3, idle: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("release 1", "idle"), ("release 2", "close 1 idleLimit"), ("count", "1"),
        ("acquire a 3", "use 2"),
      ]),
    PoolHistory(
      "with an idle limit of 0 nothing is kept",
      idle: 0,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "close 1 idleLimit"),
        ("count", "0"), ("next", "-"),
      ]),
    PoolHistory(
      "idle connections close when their time is over, and not before",
      [
        ("next", "-"), ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"),
        ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("at 5", ""), ("release 1", "idle"), ("at 8", ""), ("release 2", "idle"),
        ("next", "15"), ("at 14", ""), ("expire", ""), ("at 15", ""), ("expire", "close 1 idleTimeout"), ("next", "18"),
        ("at 99", ""), ("expire", "close 2 idleTimeout"), ("next", "-"), ("count", "0"),
      ]),
    PoolHistory(
      "each use starts the idle time anew, and a busy connection has none",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"), ("at 9", ""),
        ("acquire a 2", "use 1"), ("next", "-"), ("at 50", ""), ("expire", ""), ("release 1", "idle"), ("next", "60"),
        ("at 59", ""), ("expire", ""), ("count", "1"),
      ]),
    PoolHistory(
      "a connection that nobody needed when it was opened has its idle time too",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1", "use 1 by 2"), ("at 3", ""), ("opened 2", "idle"), ("next", "13"), ("at 13", ""),
        ("expire", "close 2 idleTimeout"),
      ]),
    PoolHistory(
      "an idle connection whose peer has closed isn't given out",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"),
        ("evict 1", "close 1 closedByPeer"), ("count", "0"), ("acquire a 2", "connect 2 for 2"),
      ]),
    PoolHistory(
      "all keys' idle times are looked at",
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire b 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("at 4", ""), ("release 2", "idle"), ("at 6", ""), ("release 1", "idle"),
        ("next", "14"), ("at 14", ""), ("expire", "close 2 idleTimeout"), ("at 16", ""),
        ("expire", "close 1 idleTimeout"), ("count", "0"),
      ]),
  ]
}

extension PoolHistory {
  static let all = serving + ending + resting + retiring + crowded + strained + counting + shuttingDown

  static let retiring = [
    PoolHistory(
      "a connection that has become too old under a request is closed behind it",
      age: .seconds(5),
      [
        ("acquire a 1", "connect 1 for 1"), ("at 1", ""), ("opened 1", "use 1 by 1"), ("next", "6"), ("at 6", ""),
        ("expire", ""), ("next", "-"), ("release 1", "close 1 ageLimit"), ("count", "0"),
      ]),
    PoolHistory(
      "a connection that becomes too old while it is idle is closed then",
      age: .seconds(5),
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"), ("next", "5"),
        ("at 5", ""), ("expire", "close 1 ageLimit"), ("next", "-"), ("count", "0"),
      ]),
    PoolHistory(
      "who waits doesn't get a connection that is too old, but a new one",
      max: 1, age: .seconds(5),
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "wait"), ("at 5", ""),
        ("release 1", "close 1 ageLimit; connect 2 for 2"),
      ]),
    PoolHistory(
      "what is idle for too long or too old isn't given out, even if nobody has called expire",
      age: .seconds(15),
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"), ("at 10", ""),
        ("acquire a 2", "close 1 idleTimeout; connect 2 for 2"), ("opened 2", "use 2 by 2"), ("at 24", ""),
        ("release 2", "idle"), ("at 25", ""), ("acquire a 3", "close 2 ageLimit; connect 3 for 3"),
      ]),
    PoolHistory(
      "an older idle connection that is young enough serves in place of one that is too old",
      age: .seconds(5),
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("at 4", ""),
        ("acquire a 2", "connect 2 for 2"), ("opened 2", "use 2 by 2"), ("release 2", "idle"), ("release 1", "idle"),
        ("at 5", ""), ("acquire a 3", "close 1 ageLimit; use 2 by 3"), ("cancel 3", ""), ("release 2", "idle"),
      ]),
    PoolHistory(
      "a connection that has served as often as it may is closed",
      uses: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"), ("acquire a 2", "use 1"),
        ("release 1", "close 1 usesLimit"), ("count", "0"),
      ]),
    PoolHistory(
      "a connection handed on directly counts as used",
      max: 1, uses: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "wait"), ("acquire a 3", "wait"),
        ("opened 1", "use 1 by 1"), ("release 1", "use 1 by 2"), ("release 1", "close 1 usesLimit; connect 2 for 3"),
      ]),
    PoolHistory(
      "a connection that speaks another protocol leaves its place to who waits, and isn't closed",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "wait"),
        ("detach 1", "connect 2 for 2"), ("opened 2", "use 2 by 2"), ("total", "active 1 created 2 upgraded 1"),
      ]),
    PoolHistory(
      "the connection that has been idle for longest closes when too many are, whatever its origin",
      idleInAll: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire b 2", "connect 2 for 2"), ("acquire c 3", "connect 3 for 3"),
        ("opened 1", "use 1 by 1"), ("opened 2", "use 2 by 2"), ("opened 3", "use 3 by 3"), ("release 2", "idle"),
        ("release 1", "idle"), ("release 3", "close 2 idleLimit"), ("acquire a 4", "use 1"), ("count", "2"),
      ]),
  ]

  static let crowded = [
    PoolHistory(
      "idle connections make room for other origins, the one that has been idle for longest first",
      total: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire b 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("release 2", "idle"), ("release 1", "idle"),
        ("acquire c 3", "close 2 totalLimit; connect 3 for 3"), ("acquire d 4", "close 1 totalLimit; connect 4 for 4"),
        ("acquire a 5", "wait"), ("count", "2"),
      ]),
    PoolHistory(
      "places go to who has waited longest, whatever the origin",
      max: 3, total: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("acquire b 3", "wait"), ("acquire c 4", "wait"), ("acquire a 5", "wait"),
        ("release 1", "close 1 totalLimit; connect 3 for 3"),
        ("release 2 cancelled", "close 2 cancelled; connect 4 for 4"),
        ("opened 3", "use 3 by 3"), ("release 3", "close 3 totalLimit; connect 5 for 5"),
      ]),
    PoolHistory(
      "an origin whose connection is always wanted doesn't keep another one from its turn",
      max: 1, total: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "wait"), ("acquire b 3", "wait"), ("acquire a 4", "wait"),
        ("opened 1", "use 1 by 1"), ("release 1", "use 1 by 2"), ("release 1", "close 1 totalLimit; connect 2 for 3"),
        ("opened 2", "use 2 by 3"), ("release 2", "close 2 totalLimit; connect 3 for 4"),
      ]),
    PoolHistory(
      "a connection that was just opened is used at least once",
      max: 2, total: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire b 2", "connect 2 for 2"), ("acquire b 3", "wait"),
        ("acquire a 4", "wait"), ("cancel 1", ""), ("asker 1", "4"), ("opened 1", "use 1 by 4"),
        ("release 1", "close 1 totalLimit; connect 3 for 3"),
      ]),
    PoolHistory(
      "a connection that is being opened for nobody makes room, once nothing idle is left",
      total: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1", "use 1 by 2"), ("asker 2", "-"), ("acquire b 3", "abandon 2; connect 3 for 3"),
        ("opened 3", "use 3 by 3"), ("total", "active 2 created 2 reused 1 abandoned 1"),
      ]),
    PoolHistory(
      "a connection that nobody needs any more is given up at once if another origin waits",
      total: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("acquire b 3", "wait"), ("release 1", "use 1 by 2; abandon 2; connect 3 for 3"),
      ]),
    PoolHistory(
      "who gives up waiting for a place leaves it to the next",
      total: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire b 2", "wait"), ("acquire c 3", "wait"), ("cancel 2", ""),
        ("cancel 1", "abandon 1; connect 2 for 3"), ("failed 2", "fail 3"), ("count", "0"),
      ]),
    PoolHistory(
      "beyond the limit of waiters exchanges are refused, unless a connection is idle",
      max: 1, waiters: 2,
      [
        ("acquire b 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("release 1", "idle"),
        ("acquire a 2", "connect 2 for 2"), ("acquire a 3", "wait"), ("acquire a 4", "refused tooManyWaiters(2)"),
        ("acquire c 5", "refused tooManyWaiters(2)"), ("acquire b 6", "use 1"), ("cancel 3", ""),
        ("acquire c 7", "connect 3 for 7"),
        ("origins", "a: opening 1 waiting 1; a:8080: opening 1 waiting 1; b: active 1 created 1 reused 1"),
      ]),
  ]

  static let strained = [
    PoolHistory(
      "without descriptors nobody fails, and the pauses between the attempts double up to a second",
      [
        ("acquire a 1", "connect 1 for 1"), ("failed 1 descriptors", "wait 1"), ("next", "0.01"), ("at 0.009", ""),
        ("expire", ""), ("at 0.01", ""), ("expire", "connect 2 for 1"), ("next", "-"),
        ("failed 2 descriptors", "wait 1"), ("next", "0.03"), ("at 1", ""), ("expire", "connect 3 for 1"),
        ("failed 3 descriptors", "wait 1"), ("next", "1.04"), ("at 2", ""), ("expire", "connect 4 for 1"),
        ("failed 4 descriptors", "wait 1"), ("next", "2.08"), ("at 3", ""), ("expire", "connect 5 for 1"),
        ("failed 5 descriptors", "wait 1"), ("next", "3.16"), ("at 4", ""), ("expire", "connect 6 for 1"),
        ("failed 6 descriptors", "wait 1"), ("next", "4.32"), ("at 5", ""), ("expire", "connect 7 for 1"),
        ("failed 7 descriptors", "wait 1"), ("next", "5.64"), ("at 6", ""), ("expire", "connect 8 for 1"),
        ("failed 8 descriptors", "wait 1"), ("next", "7"), ("at 7", ""), ("expire", "connect 9 for 1"),
        ("failed 9 descriptors", "wait 1"), ("next", "8"), ("at 8", ""), ("expire", "connect 10 for 1"),
        ("opened 10", "use 10 by 1"), ("next", "-"), ("acquire b 2", "connect 11 for 2"),
        ("failed 11 descriptors", "wait 2"), ("next", "8.01"),
      ]),
    PoolHistory(
      "the connection that has been idle for longest frees its descriptor, and another attempt is made at once",
      [
        ("acquire b 1", "connect 1 for 1"), ("acquire c 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("release 2", "idle"), ("release 1", "idle"), ("acquire a 3", "connect 3 for 3"),
        ("failed 3 descriptors", "wait 3; close 2 descriptorsNeeded; connect 4 for 3"),
        ("failed 4 descriptors", "wait 3; close 1 descriptorsNeeded; connect 5 for 3"),
        ("failed 5 descriptors", "wait 3"), ("count", "0"), ("next", "0.02"),
      ]),
    PoolHistory(
      "any connection that closes lets one other be opened, for who has waited longest",
      max: 1,
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire b 2", "connect 2 for 2"),
        ("acquire c 3", "connect 3 for 3"), ("failed 3 descriptors", "wait 3"), ("failed 2 descriptors", "wait 2"),
        ("next", "0.01"), ("acquire d 4", "wait"), ("release 1 cancelled", "close 1 cancelled; connect 4 for 2"),
        ("next", "-"), ("failed 4", "fail 2; connect 5 for 3"), ("opened 5", "use 5 by 3; connect 6 for 4"),
        ("opened 6", "use 6 by 4"), ("next", "-"),
      ]),
    PoolHistory(
      "a connection that becomes idle frees its descriptor if another origin waits for one",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire b 2", "connect 2 for 2"),
        ("failed 2 descriptors", "wait 2"), ("acquire a 3", "wait"),
        ("release 1", "close 1 descriptorsNeeded; connect 3 for 2"), ("opened 3", "use 3 by 2; connect 4 for 3"),
      ]),
    PoolHistory(
      "without a descriptor the origin's own connections go on serving",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("failed 2 descriptors", "wait 2"), ("next", "0.01"), ("release 1", "use 1 by 2"), ("next", "-"),
        ("release 1", "idle"),
      ]),
    PoolHistory(
      "each descriptor that is found lets two more connections be tried",
      max: 9,
      [
        ("acquire a 1", "connect 1 for 1"), ("failed 1 descriptors", "wait 1"), ("acquire a 2", "wait"),
        ("acquire a 3", "wait"), ("acquire a 4", "wait"), ("acquire a 5", "wait"), ("at 0.01", ""),
        ("expire", "connect 2 for 1"), ("opened 2", "use 2 by 1; connect 3 for 2; connect 4 for 3"),
        ("opened 3", "use 3 by 2; connect 5 for 4; connect 6 for 5"), ("acquire a 6", "wait"),
        ("opened 4", "use 4 by 3; connect 7 for 6"), ("opened 5", "use 5 by 4"), ("acquire a 7", "connect 8 for 7"),
      ]),
    PoolHistory(
      "a connection that had its descriptor before doesn't end the pause",
      max: 9,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("acquire a 3", "connect 3 for 3"),
        ("failed 3 descriptors", "wait 3"), ("opened 1", "use 1 by 1"), ("next", "0.01"), ("at 0.01", ""),
        ("expire", "connect 4 for 3"),
      ]),
    PoolHistory(
      "once a descriptor was found, the pauses begin anew",
      max: 9,
      [
        ("acquire a 1", "connect 1 for 1"), ("failed 1 descriptors", "wait 1"), ("acquire a 2", "wait"),
        ("acquire a 3", "wait"), ("at 0.01", ""), ("expire", "connect 2 for 1"),
        ("opened 2", "use 2 by 1; connect 3 for 2; connect 4 for 3"), ("failed 4 descriptors", "wait 3"),
        ("next", "0.02"),
      ]),
    PoolHistory(
      "who waits longest keeps what is on its way when another attempt finds no descriptor",
      max: 3,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("acquire a 3", "connect 3 for 3"),
        ("failed 1 descriptors", "wait 3"), ("asker 3", "1"), ("asker 2", "2"), ("failed 3", "fail 1; connect 4 for 3"),
        ("failed 4 descriptors", "wait 3"), ("failed 2", "fail 2; connect 5 for 3"),
      ]),
    PoolHistory(
      "waiting ends by cancelling, and then nothing is tried any more",
      [
        ("acquire a 1", "connect 1 for 1"), ("failed 1 descriptors", "wait 1"), ("next", "0.01"), ("cancel 1", ""),
        ("next", "-"), ("at 1", ""), ("expire", ""), ("acquire a 2", "connect 2 for 2"),
      ]),
    PoolHistory(
      "nobody is held back for a connection that nobody needed",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1", "use 1 by 2"), ("failed 2 descriptors", ""), ("next", "-"), ("acquire a 3", "connect 3 for 3"),
      ]),
  ]

  static let counting = [
    PoolHistory(
      "what is and what was is counted, for each origin and in all",
      [
        ("total", ""), ("acquire a 1", "connect 1 for 1"), ("total", "opening 1 waiting 1"),
        ("opened 1", "use 1 by 1"), ("total", "active 1 created 1"), ("release 1", "idle"),
        ("total", "idle 1 created 1"), ("acquire a 2", "use 1"), ("total", "active 1 created 1 reused 1"),
        ("acquire b 3", "connect 2 for 3"), ("failed 2", "fail 3"), ("acquire b 4", "connect 3 for 4"),
        ("cancel 4", "abandon 3"), ("release 1 timedOut", "close 1 timedOut"),
        ("origins", "a: created 1 reused 1 timedOut 1; b: failed 1 abandoned 1"),
        ("total", "created 1 reused 1 failed 1 abandoned 1 timedOut 1"),
      ]),
    PoolHistory(
      "a connection that was kept because nobody needed it isn't reused by its first exchange",
      [
        ("acquire a 1", "connect 1 for 1"), ("opened 1", "use 1 by 1"), ("acquire a 2", "connect 2 for 2"),
        ("release 1", "use 1 by 2"), ("opened 2", "idle"), ("acquire a 3", "use 2"),
        ("total", "active 2 created 2 reused 1"),
      ]),
    PoolHistory(
      "origins that nobody uses are forgotten, the longest unused first, and the sums stay",
      remembered: 2,
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire b 2", "connect 2 for 2"), ("failed 2", "fail 2"),
        ("failed 1", "fail 1"), ("origins", "a: failed 1; b: failed 1"), ("acquire g 3", "connect 3 for 3"),
        ("origins", "a: failed 1; g: opening 1 waiting 1"), ("acquire b 4", "connect 4 for 4"),
        ("acquire a 5", "connect 5 for 5"),
        ("origins", "a: opening 1 waiting 1; b: opening 1 waiting 1; g: opening 1 waiting 1"),
        ("failed 5", "fail 5"), ("origins", "b: opening 1 waiting 1; g: opening 1 waiting 1"),
        ("total", "opening 2 waiting 2 failed 3"),
      ]),
  ]

  static let shuttingDown = [
    PoolHistory(
      "a shutdown refuses who waits and comes, closes what is idle, gives up what is on its way, and waits for the rest",
      [
        ("acquire a 1", "connect 1 for 1"), ("acquire a 2", "connect 2 for 2"), ("opened 1", "use 1 by 1"),
        ("opened 2", "use 2 by 2"), ("acquire a 3", "wait"), ("acquire b 4", "connect 3 for 4"),
        ("acquire c 5", "connect 4 for 5"), ("opened 4", "use 4 by 5"), ("release 4", "idle"), ("drained", "false"),
        ("shutdown", "refuse 3 shuttingDown; refuse 4 shuttingDown; abandon 3; close 4 shutdown"),
        ("shutdown", ""), ("cancel 3", ""), ("acquire a 6", "refused shuttingDown"), ("count", "2"),
        ("drained", "false"), ("release 1", "close 1 shutdown"),
        ("release 2 serverAskedForClose", "close 2 serverAskedForClose"),
        ("drained", "true"), ("next", "-"), ("total", "created 3 abandoned 1 serverAskedForClose 1 shutdown 2"),
      ]),
    PoolHistory(
      "a pool without connections is drained at once",
      [("drained", "false"), ("shutdown", ""), ("drained", "true"), ("acquire a 1", "refused shuttingDown")]),
    PoolHistory(
      "a shutdown ends the wait for descriptors",
      [
        ("acquire a 1", "connect 1 for 1"), ("failed 1 descriptors", "wait 1"),
        ("shutdown", "refuse 1 shuttingDown"), ("next", "-"), ("drained", "true"),
      ]),
  ]
}
