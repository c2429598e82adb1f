module slipway.dev/bench/load

go 1.25
