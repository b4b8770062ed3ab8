// The layers below show a few types in the engine's API; whoever imports the engine can name them.

@_exported public import LupineCoding
@_exported public import LupineReactor
@_exported public import LupineTLS
@_exported public import LupineWire
