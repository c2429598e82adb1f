import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '@slipway/base/json';
import { type Authority, authorityFields, readAuthority, validityOf } from '@slipway/controllers';
import { type ProvisioningToken, readTokens } from '@slipway/fleet';
import { bootstrapPaths } from '@slipway/server';
import { CommandError } from '../cli/errors.ts';
import { readYaml } from '../ignition/manifest-yaml.ts';
import { reasonOf } from '../manifests/find-files.ts';
import { authorityManifest } from './bundle.ts';

export interface Kept {
  authority: Authority;
  tokens: ReadonlyMap<string, readonly ProvisioningToken[]>;
}

/** The CA and the tokens of an earlier `--out`: machines that were started with its stubs still boot. */
export async function readKept(directory: string, now: Date): Promise<Kept> {
  const fail = (file: string, problem: string): never => {
    throw new CommandError(
      'SLW_CLI_BOOTSTRAP_INPUT',
      `--keep-from ${directory}: ${file}: ${problem}. Give a directory that slipway bootstrap wrote, or leave the flag out for a new CA and tokens`,
    );
  };
  const read = async (file: string): Promise<string> => {
    try {
      return await readFile(join(directory, file), 'utf8');
    } catch (error) {
      return fail(file, reasonOf(error));
    }
  };
  const found = readAuthority(authorityIn(await read(authorityManifest)));
  if (!found.ok) return fail(authorityManifest, `data["${found.field}"]: ${found.problem}`);
  if (validityOf(found.authority.certificate).to <= now.getTime()) fail(authorityManifest, 'the CA has expired');
  const tokens = tokensIn(await read(bootstrapPaths.tokens));
  return { authority: found.authority, tokens: tokens ?? fail(bootstrapPaths.tokens, 'expected tokens by pool') };
}

function authorityIn(text: string): Record<string, string> {
  const value = readYaml(authorityManifest, text);
  const data = isRecord(value) && isRecord(value['data']) ? value['data'] : {};
  return Object.fromEntries(
    authorityFields.flatMap((field) => {
      const encoded = data[field];
      return typeof encoded === 'string' ? [[field, Buffer.from(encoded, 'base64').toString('utf8')]] : [];
    }),
  );
}

function tokensIn(text: string): Map<string, ProvisioningToken[]> | undefined {
  const tokens = new Map<string, ProvisioningToken[]>();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  for (const [pool, each] of Object.entries(value)) {
    const read = readTokens(JSON.stringify(each));
    if (read === undefined) return undefined;
    tokens.set(pool, read);
  }
  return tokens;
}
