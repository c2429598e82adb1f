// A rendered config as a node keeps it: the one that the machine is at, in the file that users know, and others by their name
// from the cluster.
import type { MachineConfig } from '@slipway/api';
import { poolLabel } from '@slipway/api/names';
import { machineConfigs } from '@slipway/api/resources';
import { describeKind, isRecord } from '@slipway/base/json';
import { isRenderedAs } from '@slipway/fleet';
import type { Client } from '@slipway/kube';
import { DaemonError } from './errors.ts';
import type { FileSystem } from './host/file-system.ts';
import { CURRENT_CONFIG, writeStateFile } from './state-file.ts';

/** A rendered config as it is kept on the node: its name and all that a machine is made from. */
export interface StoredConfig {
  readonly name: string;
  readonly spec: NonNullable<MachineConfig['spec']>;
}

/** Far above what a rendered config can have (1.5 MB): a bound all the same. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Null: the machine has none yet. Rejects with a DaemonError where the file cannot be read as one. */
export async function readCurrentConfig(files: FileSystem): Promise<StoredConfig | null> {
  if ((await files.lookAt(CURRENT_CONFIG)) === null) return null;
  const bytes = await files.read(CURRENT_CONFIG, MAX_BYTES);
  try {
    return parseStoredConfig(bytes);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new DaemonError(
      'SLW_DAEMON_CONFIG',
      `${CURRENT_CONFIG} does not say which config the machine is at: ${why}. Put the MachineConfig there that the Node’s annotation currentConfig names (kubectl get machineconfig NAME -o json), or install the machine anew`,
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

/** Throws where it is no MachineConfig with a name; what its Ignition config says is read by who uses it. */
export function parseStoredConfig(bytes: Uint8Array): StoredConfig {
  const found = parseJson(bytes);
  if (!isRecord(found) || found['kind'] !== 'MachineConfig')
    throw refusal('expected a MachineConfig, found no such kind');
  const { metadata, spec } = found;
  const name = isRecord(metadata) ? metadata['name'] : undefined;
  if (typeof name !== 'string' || name === '')
    throw refusal('metadata.name: expected the name of a rendered config, found none');
  if (!isRecord(spec)) throw refusal('spec: expected what a machine is made from, found none');
  const field = wrongField(spec);
  if (field !== undefined)
    throw refusal(`spec.${field.name}: expected ${field.expected}, found ${describeKind(spec[field.name])}`);
  return { name, spec };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    // What a parser says may quote the text, which may be secret.
    throw refusal(`expected JSON, found ${bytes.length} bytes that are none`, cause);
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
  { name: 'kernelArguments', expected: 'a list of texts', holds: isList },
  { name: 'extensions', expected: 'a list of texts', holds: isList },
  { name: 'fips', expected: 'true or false', holds: (value) => typeof value === 'boolean' },
  { name: 'kernelType', expected: 'a text', holds: isText },
  { name: 'osImageURL', expected: 'a text', holds: isText },
  { name: 'baseOSExtensionsContainerImage', expected: 'a text', holds: isText },
];

function wrongField(spec: Record<string, unknown>): Field | undefined {
  return FIELDS.find(({ name, holds }) => spec[name] !== undefined && !holds(spec[name]));
}

function refusal(why: string, cause?: unknown): DaemonError {
  return new DaemonError('SLW_DAEMON_CONFIG', why, { cause });
}

/** Rejects with a DaemonError where the object is no config to bring a machine to. */
export type ConfigReader = (name: string, signal: AbortSignal) => Promise<StoredConfig>;

/** From the cluster: all of a config, as it was rendered, or the reason why not. */
export const createConfigReader =
  (client: Client): ConfigReader =>
  (name, signal) =>
    readConfig(client, name, signal);

async function readConfig(client: Client, name: string, signal: AbortSignal): Promise<StoredConfig> {
  const found = await client.find(machineConfigs, { name }, { signal });
  if (found === undefined) {
    throw new DaemonError(
      'SLW_DAEMON_CONFIG',
      `MachineConfig ${name}, which the Node’s annotation desiredConfig names, does not exist: it was deleted, or the name is wrong. The render controller makes it again while its pool has it in spec.configuration; else let the node have another target`,
    );
  }
  return checkConfig(found);
}

async function checkConfig(found: MachineConfig): Promise<StoredConfig> {
  const { name, labels } = found.metadata;
  const { spec } = found;
  if (spec?.config === undefined) throw incomplete(name, 'expected spec.config, found none');
  const pool = labels?.[poolLabel];
  if (pool !== undefined && !isRenderedAs(name, pool, spec)) {
    throw incomplete(name, 'its name is the digest of another spec: a part of it is missing, or was changed');
  }
  return { name, spec };
}

const incomplete = (name: string, why: string): DaemonError =>
  new DaemonError(
    'SLW_DAEMON_CONFIG',
    `MachineConfig ${name} is not what was rendered: ${why}. Delete it, and the render controller makes it again`,
  );
