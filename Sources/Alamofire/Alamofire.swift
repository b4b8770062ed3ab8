// Re-exports Lupine under Alamofire's module name, so that programs can keep `import Alamofire`. It adds no code.

@_exported public import Lupine
