// How this machine gets at registries, by the files that its container runtime goes by as well.
import type { RegistriesConf, RegistryOptions } from '@slipway/registry';
import type { RegistryCredential } from '../host/container-runtime.ts';
import type { FileSystem } from '../host/file-system.ts';
import { readText } from '../host/read-text.ts';

const PULL_SECRET = '/var/lib/kubelet/config.json';
const REGISTRIES = '/etc/containers/registries.conf';
const CERTIFICATES = ['/etc/containers/certs.d', '/etc/docker/certs.d'];
/** Of the OS: a daemon in a container has another one. */
const BUNDLES = ['/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem', '/etc/ssl/certs/ca-certificates.crt'];
const MOST_BYTES = 1024 * 1024;
const MOST_HOSTS = 200;

/** By scope; empty where the machine has no pull secret. */
export type Credentials = ReadonlyMap<string, RegistryCredential>;

export async function readCredentials(files: FileSystem): Promise<Credentials> {
  const text = await readText(files, PULL_SECRET, MOST_BYTES);
  if (text === undefined) return new Map();
  return (await import('@slipway/registry')).parsePullSecret(text);
}

/** The one for the most specific scope that the image is in. */
export async function credentialFor(image: string, credentials: Credentials): Promise<RegistryCredential | null> {
  if (credentials.size === 0) return null;
  const { mostSpecific } = await import('@slipway/registry');
  const scope = mostSpecific(credentials.keys(), nameOf(image));
  return (scope === undefined ? undefined : credentials.get(scope)) ?? null;
}

/** Without the digest; hosts have no case. */
function nameOf(image: string): string {
  const [name = ''] = image.split('@');
  const slash = name.indexOf('/');
  return name.slice(0, slash).toLowerCase() + name.slice(slash);
}

export async function readRegistryOptions(files: FileSystem): Promise<RegistryOptions> {
  const { mirrors, plainHttp } = await readRegistriesConf(files);
  const ca = await readAuthorities(files);
  return { credentials: await readCredentials(files), mirrors, plainHttp, ...(ca !== '' && { ca }) };
}

async function readRegistriesConf(files: FileSystem): Promise<RegistriesConf> {
  const { parseRegistriesConf } = await import('@slipway/registry');
  const directory = `${REGISTRIES}.d`;
  const more = (await files.list(directory)).filter((name) => name.endsWith('.conf'));
  const found: RegistriesConf[] = [];
  for (const path of [REGISTRIES, ...more.map((name) => `${directory}/${name}`)]) {
    const text = await readText(files, path, MOST_BYTES);
    if (text !== undefined) found.push(parseRegistriesConf(text));
  }
  return {
    mirrors: found.flatMap(({ mirrors }) => mirrors),
    plainHttp: found.flatMap(({ plainHttp }) => plainHttp),
  };
}

/** Only sizes are asked for by them, and manifests are checked against their digests: so one list for all hosts will do. */
async function readAuthorities(files: FileSystem): Promise<string> {
  const paths = [...BUNDLES];
  for (const directory of CERTIFICATES) {
    for (const host of (await files.list(directory)).slice(0, MOST_HOSTS)) {
      const names = await files.list(`${directory}/${host}`);
      paths.push(...names.filter((name) => name.endsWith('.crt')).map((name) => `${directory}/${host}/${name}`));
    }
  }
  const texts = await Promise.all(paths.map((path) => readText(files, path, MOST_BYTES)));
  return texts.filter((text) => text?.includes('BEGIN CERTIFICATE')).join('\n');
}
