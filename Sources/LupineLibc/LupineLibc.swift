// LupineLibc: the system's C library, under one name.

#if canImport(Glibc)
  @_exported public import Glibc
#else
  // Musl takes the place of Glibc in static programs.
  @_exported public import Musl
#endif
