// Builds minimal API objects for tests.
import {
  type MachineConfig,
  type MachineConfigPool,
  type Node,
  nodeAnnotations,
  poolLabel,
  ROLE_LABEL,
} from '@slipway/api';

export type MachineConfigSpec = NonNullable<MachineConfig['spec']>;

/** The label that assigns a node to a pool. */
export const nodeRole = (pool: string): string => `node-role.kubernetes.io/${pool}`;

export const dataUrl = (text: string): string => `data:,${encodeURIComponent(text)}`;

/** A file of an Ignition config. */
export const fileEntry = (path: string, text: string, more: object = {}): object => ({
  path,
  mode: 0o644,
  contents: { source: dataUrl(text) },
  ...more,
});

export const ignitionConfig = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  ignition: { version: '3.5.0' },
  ...more,
});

/** An Ignition config with one file. */
export const configWithFile = (path: string, text: string, more: object = {}): Record<string, unknown> =>
  ignitionConfig({ storage: { files: [fileEntry(path, text, more)] } });

/** An Ignition config with these files, over those that an OS image may have: path → text. */
export const configWithFiles = (
  files: Readonly<Record<string, string>>,
  more: object = {},
): Record<string, unknown> => ({
  ...ignitionConfig({
    storage: { files: Object.entries(files).map(([path, text]) => fileEntry(path, text, { overwrite: true })) },
  }),
  ...more,
});

/** The spec of a MachineConfig with one file. */
export const specWithFile = (path: string, text: string): MachineConfigSpec => ({ config: configWithFile(path, text) });

/** The spec of a MachineConfig with these files: path → text. */
export const specWithFiles = (files: Readonly<Record<string, string>>, more: object = {}): MachineConfigSpec => ({
  config: configWithFiles(files, more),
});

export const machineConfig = (
  name: string,
  role: string,
  spec?: MachineConfig['spec'],
  annotations: Record<string, string> = {},
): MachineConfig => ({
  metadata: { name, labels: { [ROLE_LABEL]: role }, annotations },
  ...(spec !== undefined && { spec }),
});

/** As rendered by the controllers for a pool. */
export const renderedConfig = (name: string, pool: string, spec: MachineConfigSpec = {}): MachineConfig => ({
  metadata: { name, labels: { [poolLabel]: pool } },
  spec,
});

/** A pool of the MachineConfigs and nodes with the role of its name. */
export const machineConfigPool = (
  name: string,
  spec: Partial<MachineConfigPool['spec']> = {},
  annotations: Record<string, string> = {},
): MachineConfigPool => ({
  metadata: { name, annotations },
  spec: {
    machineConfigSelector: { matchLabels: { [ROLE_LABEL]: name } },
    nodeSelector: { matchLabels: { [nodeRole(name)]: '' } },
    ...spec,
  },
});

/** A pool based on the configuration of the workers. */
export const customPool = (name: string, spec: Partial<MachineConfigPool['spec']> = {}): MachineConfigPool =>
  machineConfigPool(name, {
    machineConfigSelector: { matchExpressions: [{ key: ROLE_LABEL, operator: 'In', values: ['worker', name] }] },
    ...spec,
  });

export interface NodeOptions {
  /** Its roles; by default that of a worker. */
  readonly pools?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
  /** Its current and desired config, as reported by its daemon. */
  readonly config?: string;
}

export const node = (name: string, { pools = ['worker'], annotations = {}, config }: NodeOptions = {}): Node => ({
  metadata: {
    name,
    labels: Object.fromEntries(pools.map((pool) => [nodeRole(pool), ''])),
    annotations: { ...(config !== undefined && updatedTo(config)), ...annotations },
  },
});

/** The daemon's report of a node that has reached a config. */
export const updatedTo = (config: string): Record<string, string> => ({
  [nodeAnnotations.currentConfig]: config,
  [nodeAnnotations.desiredConfig]: config,
  [nodeAnnotations.state]: 'Done',
});
