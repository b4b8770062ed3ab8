// Exports: re-exports URLSession's types, which programs for Alamofire 4 get with Foundation on Apple's systems.

@_exported public import LupineURLSession
