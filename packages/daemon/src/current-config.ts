// The rendered config that the machine is at, as it is kept on the machine: a whole MachineConfig, in the file that users know.
import { isRecord } from '@slipway/base/json';
import { DaemonError } from './errors.ts';
import type { FileSystem } from './host/file-system.ts';
import { CURRENT_CONFIG } from './node-paths.ts';
import { writeStateFile } from './state-file.ts';
import type { StoredConfig } from './stored-config.ts';

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
    throw refusal(`spec.${field.name}: expected ${field.expected}, found ${typeOf(spec[field.name])}`);
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

/** Not the value: it may be secret. */
function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

function refusal(why: string, cause?: unknown): DaemonError {
  return new DaemonError('SLW_DAEMON_CONFIG', why, { cause });
}
