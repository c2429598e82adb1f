// Inputs of slipway bootstrap besides manifests: node access, an earlier directory, the OS image streams of a release.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type OSImageStream, osImageStreams, SINGLETON_NAME } from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import {
  formatProblem,
  type JoiningNode,
  ProblemList,
  type ProvisioningToken,
  readTokens,
  type Streams,
  toStreams,
} from '@slipway/fleet';
import {
  discoverStreams,
  nextStreamObject,
  toImagePair,
  readSources,
  type StreamSources,
} from '@slipway/fleet/stream-discovery';
import { type Authority, authorityFields, readAuthority, readValidity } from '@slipway/base/certificates';
import { formatApiVersion, loadKubeconfig } from '@slipway/kube';
import { isRegistryError } from '@slipway/registry';
import { bootstrapPaths } from '@slipway/server';
import { CommandError, InputError } from '../cli/errors.ts';
import { readSmallFile, describeSystemError } from '../cli/io.ts';
import { openRegistry } from '../cli/registry.ts';
import type { FleetManifests } from '../manifests/fleet-manifests.ts';
import { readYaml } from '../manifests/yaml.ts';
import type { BootstrapOptions } from './bootstrap.ts';
import { AUTHORITY_MANIFEST } from './bundle.ts';

/** Both are part of every served config. */
const MAX_BYTES = 256 * 1024;

/** For joining machines: the kubeconfig unchanged, and the CA from --ca or from the kubeconfig. */
export async function readNodeAccess(kubeconfigFile: string, caFile: string | undefined): Promise<JoiningNode> {
  const kubeconfig = await readInput('--kubeconfig-for-nodes', kubeconfigFile);
  checkKubeconfig(kubeconfigFile, kubeconfig);
  const caBundle = caFile === undefined ? await embeddedCa(kubeconfigFile) : await readInput('--ca', caFile);
  if (!holdsCertificates(caBundle)) {
    throw bad(`--ca ${caFile ?? kubeconfigFile}`, 'expected certificates in PEM, found other content');
  }
  return { kubeconfig, caBundle };
}

async function readInput(flag: string, file: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw bad(`${flag} ${file}`, `cannot be read: ${describeSystemError(error)}`);
  }
  if (text.length > MAX_BYTES)
    throw bad(`${flag} ${file}`, `expected at most ${MAX_BYTES} bytes, found ${text.length}`);
  return text;
}

/** Paths in it refer to the new machine, so they are not checked here. */
function checkKubeconfig(file: string, text: string): void {
  const expected = 'expected a kubeconfig with clusters and users';
  try {
    const value = readYaml(file, text);
    if (isRecord(value) && Array.isArray(value['clusters']) && Array.isArray(value['users'])) return;
  } catch (failure) {
    if (!(failure instanceof InputError)) throw failure;
  }
  throw bad(`--kubeconfig-for-nodes ${file}`, `${expected}, found other content`);
}

async function embeddedCa(kubeconfigFile: string): Promise<string> {
  const access = await loadKubeconfig([kubeconfigFile]);
  const ca = await access.ca();
  if (ca !== undefined) return ca;
  throw bad(
    `--kubeconfig-for-nodes ${kubeconfigFile}`,
    'expected the CA of the API server in it, found none. Pass its file with --ca',
  );
}

function holdsCertificates(text: string): boolean {
  try {
    return new X509Certificate(text).subject !== undefined;
  } catch {
    return false;
  }
}

function bad(what: string, problem: string): CommandError {
  return new CommandError('SLW_CLI_BOOTSTRAP_INPUT', `${what}: ${problem}`);
}

export interface SavedCredentials {
  authority: Authority;
  tokens: ReadonlyMap<string, readonly ProvisioningToken[]>;
}

/** The CA and tokens of an earlier `--out`, so that machines with its stubs still boot. */
export async function readSavedCredentials(directory: string, now: Date): Promise<SavedCredentials> {
  const fail = (file: string, problem: string): never => {
    throw new CommandError(
      'SLW_CLI_BOOTSTRAP_INPUT',
      `--keep-from ${directory}: ${file}: ${problem}. Use the output directory of an earlier slipway bootstrap, or leave the flag out for a new CA and new tokens`,
    );
  };
  const read = async (file: string): Promise<string> => {
    try {
      return await readFile(join(directory, file), 'utf8');
    } catch (error) {
      return fail(file, describeSystemError(error));
    }
  };
  const found = readAuthority(authorityIn(await read(AUTHORITY_MANIFEST)));
  if (!found.ok) return fail(AUTHORITY_MANIFEST, `data["${found.field}"]: ${found.problem}`);
  if (readValidity(found.authority.certificate).to <= now.getTime()) fail(AUTHORITY_MANIFEST, 'the CA has expired');
  const tokens = tokensIn(await read(bootstrapPaths.tokens));
  return { authority: found.authority, tokens: tokens ?? fail(bootstrapPaths.tokens, 'expected tokens by pool') };
}

function authorityIn(text: string): Record<string, string> {
  const value = readYaml(AUTHORITY_MANIFEST, text);
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

type DayZeroManifests = Pick<FleetManifests, 'osImages' | 'releaseVersion' | 'osImageStream'>;

/** The OS image streams of a release, for machines that start before the cluster exists. */
export interface DayZeroStreams {
  readonly streams: Streams;
  /** For the new cluster. */
  readonly object: OSImageStream;
  /** What was left out and why, one line each. */
  readonly notes: readonly string[];
}

/**
 * Uses the same sources and rules as the controllers. Undefined: streams were not requested. A failed source is an
 * error, because machines would start with the wrong OS.
 */
export async function dayZeroStreams(
  options: BootstrapOptions,
  manifests: DayZeroManifests,
): Promise<DayZeroStreams | undefined> {
  if (options.imageReferences === undefined) return undefined;
  const imageReferences = await readSmallFile('--image-references', options.imageReferences);
  const readings = await readAll({ ...namedPairs(options, manifests), release: { imageReferences } }, options);
  const failed = readings.flatMap((reading) => (reading.ok ? [] : [`${reading.name}: ${reading.problem}`]));
  if (failed.length > 0) throw ProblemList.of('SLW_STREAM_SOURCE_FAILED', failed);
  const discovery = discoverStreams(readings);
  const next = nextStreamObject({
    current: manifests.osImageStream,
    discovery,
    sourcesDigest: '',
    releaseImage: null,
  });
  if (next.type === 'leave') throw new ProblemList([...next.problems, ...discovery.notes]);
  const object = buildStreamManifest(next.wanted);
  const streams = toStreams(object);
  if (streams === null) throw new Error('the new OSImageStream has no status');
  const notes = [...next.problems, ...discovery.notes].map((each) => `warning: ${formatProblem(each)}`);
  return { streams, object, notes };
}

function namedPairs(
  { osImage, osExtensionsImage }: BootstrapOptions,
  { osImages, releaseVersion }: DayZeroManifests,
): Pick<StreamSources, 'commandLine' | 'configMap'> {
  const configMap = toImagePair(osImages?.osImageURL, osImages?.baseOSExtensionsContainerImage);
  return {
    commandLine: toImagePair(osImage, osExtensionsImage),
    configMap: configMap === null ? null : { ...configMap, version: releaseVersion ?? null },
  };
}

async function readAll(sources: StreamSources, options: BootstrapOptions): ReturnType<typeof readSources> {
  const registry = await openRegistry(options);
  try {
    return await readSources(sources, { registry, isRegistryError });
  } finally {
    await registry.close();
  }
}

/** An API server drops the status of a new object. It is for rendering from these manifests. */
function buildStreamManifest({
  spec,
  status,
  annotations,
}: Extract<ReturnType<typeof nextStreamObject>, { type: 'write' }>['wanted']): OSImageStream {
  const kept = Object.entries(annotations).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '');
  return {
    apiVersion: formatApiVersion(osImageStreams),
    kind: osImageStreams.kind,
    metadata: { name: SINGLETON_NAME, annotations: Object.fromEntries(kept) },
    spec,
    status,
  };
}
