// Objects of the API as tests make them, with as little in them as the API asks for.
import {
  type MachineConfig,
  type MachineConfigPool,
  type Node,
  nodeAnnotations,
  poolLabel,
  ROLE_LABEL,
} from '@slipway/api';

export type MachineConfigSpec = NonNullable<MachineConfig['spec']>;

/** The label that puts a node into a pool. */
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

/** As the controllers render it for a pool. */
export const renderedConfig = (name: string, pool: string, spec: MachineConfigSpec = {}): MachineConfig => ({
  metadata: { name, labels: { [poolLabel]: pool } },
  spec,
});

/** Of the MachineConfigs and the nodes with the role of its name. */
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

/** A pool that builds on the configuration of the workers. */
export const customPool = (name: string, spec: Partial<MachineConfigPool['spec']> = {}): MachineConfigPool =>
  machineConfigPool(name, {
    machineConfigSelector: { matchExpressions: [{ key: ROLE_LABEL, operator: 'In', values: ['worker', name] }] },
    ...spec,
  });

export interface NodeOptions {
  /** Whose roles it has; the worker's if left out. */
  readonly pools?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
  /** The config that it has and is to have, as its daemon reports it. */
  readonly config?: string;
}

export const node = (name: string, { pools = ['worker'], annotations = {}, config }: NodeOptions = {}): Node => ({
  metadata: {
    name,
    labels: Object.fromEntries(pools.map((pool) => [nodeRole(pool), ''])),
    annotations: { ...(config !== undefined && updatedTo(config)), ...annotations },
  },
});

/** What the daemon of a node reports that has reached a config. */
export const updatedTo = (config: string): Record<string, string> => ({
  [nodeAnnotations.currentConfig]: config,
  [nodeAnnotations.desiredConfig]: config,
  [nodeAnnotations.state]: 'Done',
});
