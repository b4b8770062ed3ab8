// Repetitions: the number of repetitions of randomized tests, and which of their arguments they try.

import Glibc

/// Returns `count` divided by LUPINE_TESTS_DIVISOR. With sanitizers, which are many times slower, the divisor is set.
package func repetitions(of count: Int) -> Int { max(1, count / testsDivisor) }

/// The value of LUPINE_TESTS_DIVISOR, or 1 if it isn't set.
package let testsDivisor = max(1, getenv("LUPINE_TESTS_DIVISOR").flatMap { Int(String(cString: $0)) } ?? 1)

/// The one argument to try, of tests with hundreds, or nil for all: LUPINE_TESTS_ARGUMENT, which `make mutants` sets.
package let testsArgument = getenv("LUPINE_TESTS_ARGUMENT").map { String(cString: $0) }
