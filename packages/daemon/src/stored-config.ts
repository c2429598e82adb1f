// Rendered configs on a node: the current one from its well-known file, others by name from the cluster.
import { setTimeout as sleep } from 'node:timers/promises';
import type { MachineConfig } from '@slipway/api';
import { NOT_YET_SET, poolLabel } from '@slipway/api/names';
import { machineConfigNodes, machineConfigs } from '@slipway/api/resources';
import { describeKind, isRecord } from '@slipway/base/json';
import { isRenderedAs, isRenderedFor } from '@slipway/fleet';
import type { Client } from '@slipway/kube';
import { DaemonError } from './errors.ts';
import type { FileSystem } from './host/file-system.ts';
import { CURRENT_CONFIG, writeStateFile } from './state-file.ts';

/** A rendered config as stored on the node: its name and its spec. */
export interface StoredConfig {
  readonly name: string;
  readonly spec: NonNullable<MachineConfig['spec']>;
}

/** Far above the largest rendered config (1.5 MB), but still a bound. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Null: the machine has none yet. Rejects with a DaemonError if the file cannot be parsed. */
export async function readCurrentConfig(files: FileSystem): Promise<StoredConfig | null> {
  if ((await files.lookAt(CURRENT_CONFIG)) === null) return null;
  const bytes = await files.read(CURRENT_CONFIG, MAX_BYTES);
  try {
    return parseStoredConfig(bytes);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new DaemonError(
      'SLW_DAEMON_CONFIG',
      `${CURRENT_CONFIG} does not identify the machine’s current config: ${why}. Replace the file with the MachineConfig that the Node’s annotation currentConfig names (kubectl get machineconfig NAME -o json), or reinstall the machine`,
      { cause },
    );
  }
}

export async function writeCurrentConfig(files: FileSystem, config: StoredConfig): Promise<void> {
  await writeStateFile(files, CURRENT_CONFIG, encodeStoredConfig(config));
}

export function encodeStoredConfig({ name, spec }: StoredConfig): string {
  return JSON.stringify({
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: { name },
    spec,
  });
}

/** Throws if it is not a MachineConfig with a name. Callers parse its Ignition config. */
export function parseStoredConfig(bytes: Uint8Array): StoredConfig {
  const found = parseJson(bytes);
  if (!isRecord(found) || found['kind'] !== 'MachineConfig')
    throw refusal('kind: expected MachineConfig, found another kind or none');
  const { metadata, spec } = found;
  const name = isRecord(metadata) ? metadata['name'] : undefined;
  if (typeof name !== 'string' || name === '')
    throw refusal('metadata.name: expected the name of a rendered config, found none');
  if (!isRecord(spec)) throw refusal('spec: expected the spec of a rendered config, found none');
  const field = wrongField(spec);
  if (field !== undefined)
    throw refusal(`spec.${field.name}: expected ${field.expected}, found ${describeKind(spec[field.name])}`);
  return { name, spec };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    // A parser's message may quote the text, which may be secret.
    throw refusal(`expected JSON, found ${bytes.length} bytes that are not JSON`, cause);
  }
}

const isText = (value: unknown) => typeof value === 'string';
const isList = (value: unknown) => value === null || (Array.isArray(value) && value.every(isText));

interface Field {
  readonly name: string;
  readonly expected: string;
  readonly holds: (value: unknown) => boolean;
}

const FIELDS: readonly Field[] = [
  { name: 'config', expected: 'an Ignition config', holds: isRecord },
  { name: 'kernelArguments', expected: 'a list of strings', holds: isList },
  { name: 'extensions', expected: 'a list of strings', holds: isList },
  { name: 'fips', expected: 'true or false', holds: (value) => typeof value === 'boolean' },
  { name: 'kernelType', expected: 'a string', holds: isText },
  { name: 'osImageURL', expected: 'a string', holds: isText },
  { name: 'baseOSExtensionsContainerImage', expected: 'a string', holds: isText },
];

function wrongField(spec: Record<string, unknown>): Field | undefined {
  return FIELDS.find(({ name, holds }) => spec[name] !== undefined && !holds(spec[name]));
}

function refusal(why: string, cause?: unknown): DaemonError {
  return new DaemonError('SLW_DAEMON_CONFIG', why, { cause });
}

/** Rejects with a DaemonError if the object is not a complete rendered config. */
export type ConfigReader = (name: string, signal: AbortSignal) => Promise<StoredConfig>;

/** For the config that a machine already has. Checks that it is complete and unmodified. */
export const createConfigReader =
  (client: Client): ConfigReader =>
  async (name, signal) =>
    checkConfig(await findConfig(client, 'currentConfig', name, signal));

/** For the config that a node is assigned. Checks that it was rendered for the pool of the node, too. */
export const createTargetReader =
  (client: Client, nodeName: string): ConfigReader =>
  async (name, signal) => {
    const found = await findConfig(client, 'desiredConfig', name, signal);
    const pool = found.metadata.labels?.[poolLabel];
    if (pool === undefined || !isRenderedFor(pool, name)) {
      const label = pool === undefined ? 'no such label' : `the label ${pool}`;
      throw wrongTarget(name, `it is not a rendered config: expected rendered-POOL-… and ${poolLabel}, found ${label}`);
    }
    await expectPool({ client, nodeName, target: name, pool, signal });
    return checkConfig(found);
  };

async function findConfig(
  client: Client,
  annotation: 'currentConfig' | 'desiredConfig',
  name: string,
  signal: AbortSignal,
): Promise<MachineConfig> {
  const found = await client.find(machineConfigs, { name }, { signal });
  if (found !== undefined) return found;
  throw new DaemonError(
    'SLW_DAEMON_CONFIG',
    `MachineConfig ${name}, named by the Node’s annotation ${annotation}, does not exist: it was deleted, or the name is wrong. If its pool still lists it in spec.configuration, the render controller recreates it. Otherwise assign another config to the node`,
  );
}

interface PoolCheck {
  readonly client: Client;
  readonly nodeName: string;
  readonly target: string;
  /** The pool that the target was rendered for. */
  readonly pool: string;
  readonly signal: AbortSignal;
}

/** How long the MachineConfigNode may lag behind a Node that was moved to another pool. */
const RECORD_LAG_MS = 10_000;
const RECORD_POLL_MS = 500;

/** A node without a record, or without a pool, takes a rendered config of any pool. */
async function expectPool({ client, nodeName, target, pool, signal }: PoolCheck): Promise<void> {
  const refusedAt = performance.now() + RECORD_LAG_MS;
  for (;;) {
    const spec = (await client.find(machineConfigNodes, { name: nodeName }, { signal }))?.spec;
    const own = spec?.pool.name ?? NOT_YET_SET;
    if (own === NOT_YET_SET || own === pool) return;
    // One write of the controller sets both, so a record that names the target names the pool that it was assigned for.
    if (spec?.configVersion.desired === target || performance.now() >= refusedAt) {
      throw wrongTarget(
        target,
        `it was rendered for pool ${pool}, and this node is in pool ${own} (spec.pool of its MachineConfigNode)`,
      );
    }
    await sleep(RECORD_POLL_MS, undefined, { signal });
  }
}

const wrongTarget = (name: string, why: string): DaemonError =>
  new DaemonError(
    'SLW_DAEMON_TARGET',
    `MachineConfig ${name}, named by the Node’s annotation desiredConfig, is refused: ${why}. Nothing was changed. The rollout controller assigns the right config automatically; if this lasts, check that slipway controller is running, and who writes the annotation`,
  );

async function checkConfig(found: MachineConfig): Promise<StoredConfig> {
  const { name, labels } = found.metadata;
  const { spec } = found;
  if (spec?.config === undefined) throw incomplete(name, 'expected spec.config, found none');
  const pool = labels?.[poolLabel];
  if (pool !== undefined && !(await isRenderedAs(name, pool, spec))) {
    throw incomplete(
      name,
      'its name does not match the digest of its spec: part of the spec is missing or was changed',
    );
  }
  return { name, spec };
}

const incomplete = (name: string, why: string): DaemonError =>
  new DaemonError(
    'SLW_DAEMON_CONFIG',
    `MachineConfig ${name} differs from what was rendered: ${why}. Nothing was changed. The controllers restore it automatically; if this lasts, check that slipway controller is running, and the event RenderedConfigLost of the MachineConfig`,
  );
