import { builtInLabel, generatedByAnnotation, type MachineConfig, ROLE_LABEL } from '@slipway/api';
import { canonicalJson } from '../render/rendered-name.ts';

// What every machine needs before it can join: the slipway program, and the service that finishes its first boot. The
// unit names are those that users know. The unit files are part of every rendered config: changing a byte updates every
// machine.

/** Ignition writes it at the first boot, and the first-boot service moves it away at the end, so both services run once. */
const ENCAPSULATED = '/etc/ignition-machine-config-encapsulated.json';
const PROGRAM = '/usr/local/bin/slipway';

/** Installs the slipway program on the machine. Only if its image is known. */
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

/** The kubelet waits for it: a machine must not run workloads before its OS and kernel arguments are correct. */
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
 * A host service, not a pod: it must be able to repair a machine whose kubelet does not start. It has the permissions
 * of the kubelet certificate, which are limited to one node.
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

/** Nodes of other pools have the worker role too. */
const builtInRoles = ['master', 'worker', 'arbiter'] as const;

/**
 * Every fleet has masters and workers. Few have arbiters, so `00-arbiter` exists only while there is a pool `arbiter`,
 * as in a cluster of the Machine Config Operator, which has both only in the topology with an arbiter. Slipway did not
 * always ship it: `found`, if a user made it before, stays and is the base of the pool.
 */
export const isBuiltInNeeded = (
  { metadata }: BuiltInMachineConfig,
  hasPool: (name: string) => boolean,
  found?: Pick<MachineConfig, 'metadata'>,
): boolean =>
  metadata.labels?.[ROLE_LABEL] !== 'arbiter' || (hasPool('arbiter') && (found === undefined || isOfController(found)));

const isOfController = ({ metadata: { labels, annotations } }: Pick<MachineConfig, 'metadata'>): boolean =>
  labels?.[builtInLabel] !== undefined || annotations?.[generatedByAnnotation] !== undefined;

/** The built-in MachineConfigs that a fleet needs and does not have yet. */
export function missingBuiltIn(
  { machineConfigs, pools }: { machineConfigs: readonly Named[]; pools: readonly Named[] },
  options: BuiltInOptions,
): BuiltInMachineConfig[] {
  const given = new Set(machineConfigs.map(({ metadata }) => metadata.name));
  return builtInMachineConfigs(options).filter(
    (each) =>
      !given.has(each.metadata.name) &&
      isBuiltInNeeded(each, (name) => pools.some(({ metadata }) => metadata.name === name)),
  );
}

interface Named {
  readonly metadata: { readonly name: string };
}

export type BuiltInMachineConfig = MachineConfig & { spec: NonNullable<MachineConfig['spec']> };

export interface BuiltInOptions {
  /** The version of the controller that creates them. */
  controllerVersion: string;
  /** The image with the slipway program. Omitted: it is already on the machines. */
  daemonImage?: string | undefined;
}

/** The MachineConfigs that Slipway ships, of all roles: the base that those of users override. */
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

/** Whether it is exactly as shipped. Labels and annotations that other clients add are ignored. */
export function isAsShipped(found: MachineConfig, shipped: BuiltInMachineConfig): boolean {
  const has = (all: Record<string, string> | undefined, some: Record<string, string> = {}) =>
    Object.entries(some).every(([key, value]) => all?.[key] === value);
  return (
    has(found.metadata.labels, shipped.metadata.labels) &&
    has(found.metadata.annotations, shipped.metadata.annotations) &&
    canonicalJson(found.spec ?? {}) === canonicalJson(shipped.spec)
  );
}
