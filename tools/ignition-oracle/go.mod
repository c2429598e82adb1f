module slipway/ignition-oracle

// As in Ignition's own module: a newer line would also turn on newer, stricter defaults (GODEBUG), which its client has not.
go 1.25.0

require (
	github.com/ajeddeloh/go-json v0.0.0-20200220154158-5ae607161559
	github.com/coreos/ign-converter v0.0.0-20241125185625-2f773079ca81
	github.com/coreos/ignition v0.35.0
	github.com/coreos/ignition/v2 v2.27.0
	github.com/coreos/vcontext v0.0.0-20230201181013-d72178a18687
)

require (
	github.com/aws/aws-sdk-go-v2 v1.43.4 // indirect
	github.com/coreos/go-json v0.0.0-20230131223807-18775e0fb4fb // indirect
	github.com/coreos/go-semver v0.3.1 // indirect
	github.com/coreos/go-systemd v0.0.0-20181031085051-9002847aa142 // indirect
	github.com/coreos/go-systemd/v22 v22.7.0 // indirect
	github.com/vincent-petithory/dataurl v1.0.0 // indirect
	go4.org v0.0.0-20200104003542-c7e774b10ea0 // indirect
)
