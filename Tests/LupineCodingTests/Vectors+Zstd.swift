// Vectors+Zstd: bodies coded with zstd by Python's zstandard 0.25, which contains libzstd 1.5.7.
import LupineCoding

extension Vector {
  #if Zstd
    static let zstd: [Vector] = [
      Vector(
        name: "zstd with length and checksum", codings: [.zstd],
        hex: """
          28b52ffd24ed45020072840e14b0256df65ab6a724596e211182921110c76425020d88d17cd483bd92d28cbee32b15f052a8\
          cf1263d140a9235377eaa32261453e9ae6b40b0103001b2990ce6985db9a50e344674d
          """, decoded: text, checksumBytes: 4),
      Vector(
        name: "zstd without length and checksum", codings: [.zstd],
        hex: """
          28b52ffd00583d0200f2440f14b0256df65ab6a724596e211182921110c76425020d88117dc77cd4439fb557529ad1777ca5\
          025e0af559622c1a287564ea4e7d5424acc847d39c76210100cf46a24214
          """, decoded: text),
      Vector(
        name: "zstd, repeated byte", codings: [.zstd], hex: "28b52ffd64e8024d00001061610100e32b80052342da2e",
        decoded: String(repeating: "a", count: 1000), checksumBytes: 4),
      Vector(name: "zstd, stored", codings: [.zstd], hex: "28b52ffd000029000068656c6c6f", decoded: "hello"),
      // A dictionary ID of 0 means that there is no dictionary (RFC 8878 §3.1.1.1.3).
      Vector(
        name: "zstd with dictionary ID 0", codings: [.zstd], hex: "28b52ffd01000029000068656c6c6f", decoded: "hello"),
      Vector(
        name: "zstd with a window of 8 MiB", codings: [.zstd], hex: "28b52ffd4068000003080061",
        decoded: String(repeating: "a", count: 256)),
      Vector(name: "zstd of an empty body", codings: [.zstd], hex: "28b52ffd2000010000", decoded: ""),
      Vector(
        name: "zstd of an empty body with checksum", codings: [.zstd], hex: "28b52ffd040001000099e9d851", decoded: "",
        checksumBytes: 4),
      Vector(
        name: "zstd with two frames and a skippable frame between them", codings: [.zstd],
        hex: "28b52ffd00582100006f6e6520532a4d180300000061626328b52ffd045819000074776f8b44f4ec", decoded: "one two",
        completeAt: [13, 24], checksumBytes: 4),
      Vector(
        name: "zstd in gzip", codings: [.zstd, .gzip],
        hex: """
          1f8b0800000000000203015500aaff28b52ffd24ed45020072840e14b0256df65ab6a724596e211182921110c76425020d88\
          d17cd483bd92d28cbee32b15f052a8cf1263d140a9235377eaa32261453e9ae6b40b0103001b2990ce6985db9a50e344674d\
          4928879255000000
          """, decoded: text, checksumBytes: 8),
      Vector(
        name: "gzip in zstd", codings: [.gzip, .zstd],
        hex: """
          28b52ffd0458d902001f8b0800000000000203cd8cd10dc0200805577913740927a19534240a06304db7af6ed1df7bf7ae98\
          266be2b22a7a07c819c3a5934b7b31832bd240add90382f3708ee5538ae95e4e5ed7bee9520f945fe73e82205ca6ed000000\
          7d964881
          """, decoded: text, checksumBytes: 4),
      Vector(
        name: "deflate in zstd", codings: [.deflate, .zstd],
        hex: """
          28b52ffd0058790200789ccd8cd10dc0200805577913740927a19534240a06304db7af6ed1df7bf7ae98266be2b22a7a07c8\
          19c3a5934b7b31832bd240add90382f3708ee5538ae95e4e5ed7bee9520f945fe73e294a5836
          """, decoded: text),
    ]
  #else
    static let zstd: [Vector] = []
  #endif
}
