// Exports: reexports the lower layers, because the engine's API uses some of their types.

@_exported public import LupineCoding
@_exported public import LupineReactor
@_exported public import LupineTLS
@_exported public import LupineWire
