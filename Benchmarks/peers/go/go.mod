module lupine.example/benchmarks/go

go 1.19
