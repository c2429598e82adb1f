import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { machineConfigKind, machineConfigPoolKind, validate } from '@slipway/api';
import type { Kind, MachineConfig, MachineConfigPool } from '@slipway/api';
import { isRecord, parseJson } from '@slipway/base/json';
import { readTokens, servedConfig } from '@slipway/fleet';
import type { ProvisioningToken } from '@slipway/fleet';
import { ServerError } from './errors.ts';
import type { Inputs, Source } from './source.ts';

/** The layout of a directory that `slipway bootstrap` writes and `slipway server --bootstrap` reads. */
export const bootstrapPaths = {
  /** MachineConfigPools, with spec.configuration set. */
  pool: (name: string) => `pools/${name}.json`,
  /** Rendered MachineConfigs. */
  machineConfig: (name: string) => `machine-configs/${name}.json`,
  certificate: 'tls/tls.crt',
  key: 'tls/tls.key',
  /** `{ "<pool>": [{ "token", "created", "expires" }] }`; absent if every machine is served without a token. */
  tokens: 'tokens.json',
  kubeconfig: 'kubeconfig',
  caBundle: 'ca.crt',
} as const;

const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Inputs from files, read once at the start, before there is a cluster. */
export async function createBootstrapSource(directory: string, needsTokens: boolean): Promise<Source> {
  const text = (path: string): Promise<string> => readText(join(directory, path));
  const pools = await readPools(directory);
  const inputs: Inputs = {
    pools: new Map(pools.map((pool) => [pool.metadata.name, servedConfig(pool)])),
    tokens: needsTokens ? await readTokenFile(join(directory, bootstrapPaths.tokens)) : new Map(),
    certificate: { cert: await text(bootstrapPaths.certificate), key: await text(bootstrapPaths.key) },
    node: { kubeconfig: await text(bootstrapPaths.kubeconfig), caBundle: await text(bootstrapPaths.caBundle) },
    problems: [],
  };
  return {
    read: () => inputs,
    load: (name) => readObject<MachineConfig>(machineConfigKind, join(directory, bootstrapPaths.machineConfig(name))),
    onChange: () => () => {},
    isBehind: () => false,
  };
}

async function readPools(directory: string): Promise<MachineConfigPool[]> {
  const folder = join(directory, 'pools');
  const names = await readdir(folder).catch((error: unknown) => {
    throw unreadable(folder, error);
  });
  const files = names.filter((name) => name.endsWith('.json')).toSorted();
  if (files.length === 0) {
    throw new ServerError(
      'SLW_SERVER_INPUT',
      `${folder} contains no pool: expected <pool>.json files, as written by slipway bootstrap`,
    );
  }
  return Promise.all(files.map((file) => readObject<MachineConfigPool>(machineConfigPoolKind, join(folder, file))));
}

async function readObject<T>(kind: Kind<T>, path: string): Promise<T> {
  const validated = validate(kind, parse(path, await readText(path)));
  if (validated.ok) return validated.object;
  const problems = validated.problems.map((problem) => `${problem.path}: ${problem.message}`).join('; ');
  throw new ServerError('SLW_SERVER_INPUT', `${path}: ${problems}`);
}

async function readTokenFile(path: string): Promise<Map<string, ProvisioningToken[]>> {
  const value = parse(path, await readText(path));
  if (!isRecord(value)) {
    throw new ServerError('SLW_SERVER_INPUT', `${path}: expected an object with a list of tokens for each pool`);
  }
  return new Map(
    Object.entries(value).map(([pool, list]) => {
      const tokens = readTokens(JSON.stringify(list));
      if (tokens !== undefined) return [pool, tokens];
      throw new ServerError(
        'SLW_SERVER_INPUT',
        `${path}: the tokens of pool ${pool} are not a list of {token, created, expires}`,
      );
    }),
  );
}

function parse(path: string, text: string): unknown {
  const parsed = parseJson(text);
  if (parsed.ok) return parsed.value;
  throw new ServerError('SLW_SERVER_INPUT', `${path} is not JSON`);
}

async function readText(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (text.length > 0 && text.length <= MAX_FILE_BYTES) return text;
  throw new ServerError('SLW_SERVER_INPUT', `${path} has ${text.length} characters: expected 1 to ${MAX_FILE_BYTES}`);
}

const unreadable = (path: string, error: unknown): ServerError => {
  const reason =
    error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'does not exist' : 'cannot be read';
  return new ServerError('SLW_SERVER_INPUT', `${path} ${reason}. Create the directory with slipway bootstrap`, {
    cause: error,
  });
};
