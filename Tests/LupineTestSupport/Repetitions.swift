// Repetitions: the number of repetitions of tests, and which of their arguments they try.

import Glibc

/// Returns `count`, multiplied by LUPINE_TESTS_REPEAT and divided by LUPINE_TESTS_DIVISOR. With sanitizers, which are many
/// times slower, the divisor is set.
package func repetitions(of count: Int) -> Int { max(1, count * testsRepeat / testsDivisor) }

/// The value of LUPINE_TESTS_DIVISOR, or 1 if it isn't set.
package let testsDivisor = positiveNumber("LUPINE_TESTS_DIVISOR") ?? 1

private let testsRepeat = positiveNumber("LUPINE_TESTS_REPEAT") ?? 1

private func positiveNumber(_ variable: String) -> Int? {
  getenv(variable).flatMap { Int(String(cString: $0)) }.map { max(1, $0) }
}

/// The only argument to try in tests with hundreds of arguments (LUPINE_TESTS_ARGUMENT, which `make mutants` sets),
/// or nil.
package let testsArgument = getenv("LUPINE_TESTS_ARGUMENT").map { String(cString: $0) }
