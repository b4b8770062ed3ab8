// Lupine under Alamofire's name, for programs that keep `import Alamofire`. There is nothing here of its own.

@_exported public import Lupine
