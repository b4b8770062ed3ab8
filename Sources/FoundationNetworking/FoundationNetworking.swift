// Re-exports LupineURLSession under the name of the module from which programs for Linux import URLSession. It adds no code.

@_exported public import LupineURLSession
