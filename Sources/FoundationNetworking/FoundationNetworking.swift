// Re-exports LupineURLSession under the module name that programs for Linux import URLSession from. It adds no code.

@_exported public import LupineURLSession
