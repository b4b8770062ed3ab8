// Exports: reexports the leaf that declares `HTTPCookie` and `HTTPCookieStorage`, which belong to URLSession's API.

@_exported public import LupineCookies
