import { type FileSystem, readText } from '../file-system.ts';

const PATHS = ['/etc/os-release', '/usr/lib/os-release'];
const MAX_RELEASE_BYTES = 64 * 1024;

export type OSRelease = Readonly<Record<string, string>>;

export async function readOSRelease(files: FileSystem): Promise<OSRelease> {
  for (const path of PATHS) {
    const text = await readText(files, path, MAX_RELEASE_BYTES);
    if (text !== undefined) return parseOSRelease(text);
  }
  return {};
}

/** The format of os-release(5): shell assignments, quoted or not. */
export function parseOSRelease(text: string): OSRelease {
  const entries = text.split('\n').flatMap((line): [string, string][] => {
    const match = /^\s*([A-Z][A-Z0-9_]*)=(.*)$/.exec(line.trimEnd());
    return match === null ? [] : [[match[1] ?? '', unquote(match[2] ?? '')]];
  });
  return Object.fromEntries(entries);
}

/** As kubelets report it. '' if it has no name. */
export const readOSName = async (files: FileSystem): Promise<string> => {
  const { PRETTY_NAME, NAME = '' } = await readOSRelease(files);
  return PRETTY_NAME ?? NAME;
};

export async function describeOS(files: FileSystem): Promise<{ name: string; version: string }> {
  const release = await readOSRelease(files);
  return { name: release['NAME'] ?? release['ID'] ?? 'unknown', version: readOSVersion(release) };
}

/** The version of the base OS if it is known: VERSION of RHCOS may start with that of the cluster (4.12 is `412.`). */
export function readOSVersion(release: OSRelease): string {
  if (release['RHEL_VERSION'] !== undefined) return release['RHEL_VERSION'];
  const cluster = release['OPENSHIFT_VERSION']?.replace('.', '');
  const version = release['VERSION'];
  if (cluster !== undefined && version?.startsWith(`${cluster}.`) === true) return version.slice(cluster.length + 1);
  return release['VERSION_ID'] ?? version ?? '';
}

function unquote(value: string): string {
  const quoted = /^(["'])(.*)\1$/.exec(value);
  return quoted === null ? value : (quoted[2] ?? '').replaceAll(/\\(["'$`\\])/g, '$1');
}

/**
 * The major version of Enterprise Linux and its derivatives. Undefined for other OSes, whose numbers mean something
 * else.
 */
export function readOSMajor(release: OSRelease): number | undefined {
  if (!['rhcos', 'scos', 'rhel', 'centos'].includes(release['ID'] ?? '')) return undefined;
  const major = Number.parseInt(readOSVersion(release), 10);
  return Number.isNaN(major) ? undefined : major;
}
