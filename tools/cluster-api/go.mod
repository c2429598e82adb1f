// Builds the controllers of Cluster API that tests run for real. There is no Go code of ours: only these pins.
module slipway.dev/tools/cluster-api

go 1.25.0

require (
	sigs.k8s.io/cluster-api v1.13.0
	sigs.k8s.io/cluster-api/test v1.13.0
)
