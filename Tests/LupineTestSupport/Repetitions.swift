// How often tests repeat what finds more the more often it is tried.

import Glibc

/// `count`, or as much less of it as LUPINE_TESTS_DIVISOR says: a sanitized program is many times slower.
package func repetitions(of count: Int) -> Int { max(1, count / testsDivisor) }

/// 1 unless LUPINE_TESTS_DIVISOR says otherwise.
package let testsDivisor = max(1, getenv("LUPINE_TESTS_DIVISOR").flatMap { Int(String(cString: $0)) } ?? 1)
