import { builtInLabel, generatedByAnnotation, type MachineConfig, ROLE_LABEL } from '@slipway/api';

// What every machine needs from us before it can join: the program, and the service that finishes its first boot.
// The names of the units are those that users know from the platform.

/** Ignition leaves it at the first boot; the first-boot service moves it away when it is done, so both run once. */
const ENCAPSULATED = '/etc/ignition-machine-config-encapsulated.json';
const PROGRAM = '/usr/local/bin/slipway';

/** Puts our program on the machine. Only where an image to take it from is known. */
const pullUnit = (image: string): string => `[Unit]
Description=Machine Config Daemon: put the slipway program on this machine
ConditionPathExists=${ENCAPSULATED}
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/bin/podman pull --authfile=/var/lib/kubelet/config.json ${image}
ExecStart=/usr/bin/podman run --rm --net=none --security-opt=label=disable --volume=/usr/local/bin:/target --entrypoint=/usr/bin/install ${image} -m 0755 /usr/bin/slipway /target/slipway
Restart=on-failure
RestartSec=10

[Install]
RequiredBy=machine-config-daemon-firstboot.service
`;

/** The kubelet waits for it: a machine must not take workloads before its OS and kernel arguments are right. */
const firstBootUnit = `[Unit]
Description=Machine Config Daemon: finish the first boot of this machine
ConditionPathExists=${ENCAPSULATED}
Wants=network-online.target
After=network-online.target machine-config-daemon-pull.service
Before=crio.service kubelet.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=${PROGRAM} daemon first-boot
Restart=on-failure
RestartSec=10

[Install]
WantedBy=multi-user.target
RequiredBy=kubelet.service
`;

/**
 * A service of the host and not a pod: it has to bring a machine back also when no kubelet starts on it. Its rights are those
 * of the kubelet's own certificate, which reach one node.
 */
const daemonUnit = `[Unit]
Description=Machine Config Daemon: keep this machine at its config
Wants=network-online.target
After=network-online.target machine-config-daemon-firstboot.service

[Service]
# What an update needs for a moment is given back: a node has better uses for its memory.
Environment="NODE_OPTIONS=--max-semi-space-size=1 --max-old-space-size=64" MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=131072
ExecStart=${PROGRAM} daemon --node %H --kubeconfig /var/lib/kubelet/kubeconfig
Restart=always
RestartSec=5

[Install]
WantedBy=multi-user.target
`;

/** The roles that every fleet has; machines of other pools are workers first. */
export const builtInRoles = ['master', 'worker'] as const;

export type BuiltInMachineConfig = MachineConfig & { spec: NonNullable<MachineConfig['spec']> };

export interface BuiltInOptions {
  /** Version of the program that makes them. */
  controllerVersion: string;
  /** The image that machines take our program from. Left out: it is on the machines already. */
  daemonImage?: string | undefined;
}

/** The operator's own MachineConfigs: the base that users' are merged over. */
export function builtInMachineConfigs({ controllerVersion, daemonImage }: BuiltInOptions): BuiltInMachineConfig[] {
  const units = [
    ...(daemonImage === undefined
      ? []
      : [{ name: 'machine-config-daemon-pull.service', enabled: true, contents: pullUnit(daemonImage) }]),
    { name: 'machine-config-daemon-firstboot.service', enabled: true, contents: firstBootUnit },
    { name: 'machine-config-daemon.service', enabled: true, contents: daemonUnit },
  ];
  return builtInRoles.map((role) => ({
    metadata: {
      name: `00-${role}`,
      labels: { [ROLE_LABEL]: role, [builtInLabel]: '' },
      annotations: { [generatedByAnnotation]: controllerVersion },
    },
    spec: { config: { ignition: { version: '3.5.0' }, systemd: { units } } },
  }));
}
