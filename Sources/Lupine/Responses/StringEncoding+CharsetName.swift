// StringEncoding+CharsetName: the charset names of the IANA registry, and the
// encodings with which Foundation on Linux decodes them.

package import Foundation

extension String.Encoding {
  /// Creates the encoding with the given IANA charset name, regardless of case. Returns nil for an unknown name.
  ///
  /// EUC-JP is included although Foundation on Linux can't decode it, so that text in EUC-JP results in an error rather than in
  /// wrong characters.
  package init?(charsetName: String) {
    guard let encoding = encodings[charsetName.lowercased()] else { return nil }
    self = encoding
  }

  /// Creates an encoding that has a number in CoreFoundation's CFStringEncodingExt.h, but no name in Foundation.
  fileprivate init(coreFoundation number: UInt) {
    self.init(rawValue: 0x8000_0000 | number)
  }
}

/// A dictionary of encodings by charset name in lowercase. Each entry except EUC-JP was compared byte by byte with Python's codec.
/// The entry for macintosh uses CoreFoundation's number, because Foundation 6.3 decodes the text wrongly with its own constant.
/// gb2312 and gbk are subsets of gb18030. The "x-" names are labels of the WHATWG Encoding Standard, which browsers send and
/// accept.
private let encodings: [String: String.Encoding] = [
  "utf-8": .utf8, "utf8": .utf8,
  "utf-16": .utf16, "utf-16be": .utf16BigEndian, "utf-16le": .utf16LittleEndian,
  "utf-32": .utf32, "utf-32be": .utf32BigEndian, "utf-32le": .utf32LittleEndian,

  "us-ascii": .ascii, "ascii": .ascii,
  "iso-8859-1": .isoLatin1, "iso8859-1": .isoLatin1, "iso_8859-1": .isoLatin1, "latin1": .isoLatin1, "l1": .isoLatin1,
  "iso-8859-2": .isoLatin2, "iso8859-2": .isoLatin2, "iso_8859-2": .isoLatin2, "latin2": .isoLatin2, "l2": .isoLatin2,
  "iso-8859-3": String.Encoding(coreFoundation: 0x0203),
  "iso-8859-4": String.Encoding(coreFoundation: 0x0204),
  "iso-8859-5": String.Encoding(coreFoundation: 0x0205),
  "iso-8859-6": String.Encoding(coreFoundation: 0x0206),
  "iso-8859-7": String.Encoding(coreFoundation: 0x0207),
  "iso-8859-8": String.Encoding(coreFoundation: 0x0208),
  "iso-8859-9": String.Encoding(coreFoundation: 0x0209),
  "iso-8859-10": String.Encoding(coreFoundation: 0x020A),
  "iso-8859-11": String.Encoding(coreFoundation: 0x020B),
  "iso-8859-13": String.Encoding(coreFoundation: 0x020D),
  "iso-8859-14": String.Encoding(coreFoundation: 0x020E),
  "iso-8859-15": String.Encoding(coreFoundation: 0x020F), "latin-9": String.Encoding(coreFoundation: 0x020F),
  "iso-8859-16": String.Encoding(coreFoundation: 0x0210),

  "windows-1250": .windowsCP1250, "cp1250": .windowsCP1250,
  "windows-1251": .windowsCP1251, "cp1251": .windowsCP1251,
  "windows-1252": .windowsCP1252, "cp1252": .windowsCP1252,
  "windows-1253": .windowsCP1253, "cp1253": .windowsCP1253,
  "windows-1254": .windowsCP1254, "cp1254": .windowsCP1254,
  "windows-1255": String.Encoding(coreFoundation: 0x0505),
  "windows-1256": String.Encoding(coreFoundation: 0x0506),
  "windows-1257": String.Encoding(coreFoundation: 0x0507),
  "windows-1258": String.Encoding(coreFoundation: 0x0508),
  "windows-874": String.Encoding(coreFoundation: 0x041D),
  "ibm866": String.Encoding(coreFoundation: 0x041B), "cp866": String.Encoding(coreFoundation: 0x041B),
  "macintosh": String.Encoding(coreFoundation: 0x0000), "x-mac-cyrillic": String.Encoding(coreFoundation: 0x0007),
  "koi8-r": String.Encoding(coreFoundation: 0x0A02),
  "koi8-u": String.Encoding(coreFoundation: 0x0A08),

  "shift_jis": .shiftJIS, "shift-jis": .shiftJIS, "sjis": .shiftJIS, "windows-31j": .shiftJIS,
  "ms_kanji": .shiftJIS, "x-sjis": .shiftJIS,
  "euc-jp": .japaneseEUC, "x-euc-jp": .japaneseEUC,
  "iso-2022-jp": .iso2022JP,
  "gb18030": String.Encoding(coreFoundation: 0x0632),
  "gbk": String.Encoding(coreFoundation: 0x0632), "x-gbk": String.Encoding(coreFoundation: 0x0632),
  "cp936": String.Encoding(coreFoundation: 0x0632),
  "gb2312": String.Encoding(coreFoundation: 0x0632),
  "big5": String.Encoding(coreFoundation: 0x0A03),
  "windows-949": String.Encoding(coreFoundation: 0x0422),
  "euc-kr": String.Encoding(coreFoundation: 0x0422), "ks_c_5601-1987": String.Encoding(coreFoundation: 0x0422),
]
