// Repetitions: the number of repetitions of tests, and which of their arguments they try.

import Glibc

/// Returns the number of repetitions of a test: `count`, multiplied by LUPINE_TESTS_REPEAT and divided by LUPINE_TESTS_DIVISOR. The
/// divisor is set with sanitizers, which are many times slower.
package func repetitions(of count: Int) -> Int { max(1, count * testsRepeat / testsDivisor) }

/// The value of LUPINE_TESTS_DIVISOR, or 1 if it isn't set.
package let testsDivisor = positiveNumber("LUPINE_TESTS_DIVISOR") ?? 1

private let testsRepeat = positiveNumber("LUPINE_TESTS_REPEAT") ?? 1

private func positiveNumber(_ variable: String) -> Int? {
  getenv(variable).flatMap { Int(String(cString: $0)) }.map { max(1, $0) }
}

/// The only argument for tests that have hundreds of arguments: the value of LUPINE_TESTS_ARGUMENT, which `make mutants` sets. Nil
/// if it isn't set.
package let testsArgument = getenv("LUPINE_TESTS_ARGUMENT").map { String(cString: $0) }
