// How often tests repeat what finds more the more often it is tried, and which of their arguments they try.

import Glibc

/// `count`, or as much less of it as LUPINE_TESTS_DIVISOR says: a sanitized program is many times slower.
package func repetitions(of count: Int) -> Int { max(1, count / testsDivisor) }

/// 1 unless LUPINE_TESTS_DIVISOR says otherwise.
package let testsDivisor = max(1, getenv("LUPINE_TESTS_DIVISOR").flatMap { Int(String(cString: $0)) } ?? 1)

/// The one argument to try, of tests with hundreds, or nil for all: LUPINE_TESTS_ARGUMENT, which `make mutants` sets.
package let testsArgument = getenv("LUPINE_TESTS_ARGUMENT").map { String(cString: $0) }
