import { createHash } from 'node:crypto';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedPath, makeOnce } from '../controlplane/cache.ts';
import { ToolsError } from '../controlplane/errors.ts';
import { isAtLeast, parseVersion, type Version } from '../controlplane/programs.ts';
import { showStep, terminalProgress, type Progress } from '../controlplane/progress.ts';
import { run } from '../run.ts';
import { machineApt, privateApt, type Apt } from './apt.ts';
import type { Offer } from './offer.ts';
import { sumTree } from './tree.ts';

export interface DebianPackage {
  name: string;
  /** The oldest supported upstream version. */
  least: Version;
}

/** Packages unpacked next to each other in the user's cache; nothing is installed. */
export interface Unpacked {
  directory: string;
  /** Version by package, including libraries. */
  versions: Record<string, string>;
  /** Where the dynamic linker finds the shared libraries: the value of LD_LIBRARY_PATH. */
  libraryPath: string;
}

export interface DebianOptions {
  progress?: Progress;
  env?: NodeJS.ProcessEnv;
}

/**
 * Not pinned to one version: the archive drops a version when it publishes the next, and a pin would then break every
 * empty cache. Instead it uses the newest version in the signed index of the machine's release, once; from then on the
 * cache, without apt and without network.
 */
export async function unpackDebian(
  packages: readonly DebianPackage[],
  { progress = terminalProgress(), env = process.env }: DebianOptions = {},
): Promise<Unpacked> {
  const directory = cachedPath(env, await cacheName(packages));
  let found: Unpacked | undefined;
  await makeOnce(directory, {
    doing: 'fetches Debian packages',
    progress,
    isThere: async () => (found = await readCached(directory)) !== undefined,
    async make(temporary) {
      found = await fill(directory, packages, temporary, { progress, env });
    },
  });
  if (found === undefined) throw new Error(`${directory} is missing and could not be created`);
  return found;
}

/** Programs match the C library of the release they were built for. */
async function cacheName(packages: readonly DebianPackage[]): Promise<string> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const key = createHash('sha256').update(JSON.stringify([packages, release, process.arch]));
  return `debian-${packages[0]?.name}-${key.digest('hex').slice(0, 12)}`;
}

interface Manifest {
  versions: Record<string, string>;
  sum: string;
}

/** The manifest is next to it and written last: without one, or with another checksum, it is unfinished or damaged. */
const getManifestPath = (directory: string) => `${directory}.json`;

async function readCached(directory: string): Promise<Unpacked | undefined> {
  try {
    const { versions, sum } = JSON.parse(await readFile(getManifestPath(directory), 'utf8')) as Manifest;
    if ((await sumTree(directory)) !== sum) return undefined;
    return { directory, versions, libraryPath: await libraryPath(directory) };
  } catch {
    // Absent or unreadable: fetch it.
    return undefined;
  }
}

async function fill(
  directory: string,
  packages: readonly DebianPackage[],
  temporary: string,
  options: Required<DebianOptions>,
): Promise<Unpacked> {
  const [first] = packages;
  const step = { doing: `unpacking ${first?.name} of Debian (once)`, done: `unpacked ${first?.name} of Debian` };
  return showStep(options.progress, step, async () => {
    const offers = await fetchPackages(packages, temporary, options);
    const tree = join(temporary, 'tree');
    for (const { file } of offers) await run('dpkg-deb', ['-x', join(temporary, file), tree], { env: options.env });
    // Manuals and changelogs.
    await rm(join(tree, 'usr/share'), { recursive: true, force: true });
    const versions = Object.fromEntries(offers.map(({ name, version }) => [name, version]));
    const manifest: Manifest = { versions, sum: await sumTree(tree) };
    await rm(getManifestPath(directory), { force: true });
    await rm(directory, { recursive: true, force: true });
    await rename(tree, directory);
    await writeFile(join(temporary, 'manifest'), JSON.stringify(manifest));
    await rename(join(temporary, 'manifest'), getManifestPath(directory));
    return { directory, versions, libraryPath: await libraryPath(directory) };
  });
}

/** Uses the machine's lists, else fresh private ones: the machine's may be empty, or name files that are gone. */
async function fetchPackages(
  packages: readonly DebianPackage[],
  directory: string,
  { progress, env }: Required<DebianOptions>,
): Promise<Offer[]> {
  const names = packages.map(({ name }) => name).join(', ');
  try {
    return await downloadFrom(machineApt(env), packages, directory);
  } catch (error) {
    if (!(error instanceof ToolsError) || error.code !== 'SLW_TOOLS_PACKAGE') throw error;
    progress.note(`the package lists of this machine do not contain ${names}: fetching fresh ones`);
    return downloadFrom(await privateApt(join(directory, 'apt'), env), packages, directory);
  }
}

async function downloadFrom(apt: Apt, packages: readonly DebianPackage[], directory: string): Promise<Offer[]> {
  const offers = await apt.offers(packages.map(({ name }) => name));
  for (const { name, least } of packages) {
    const { version = '' } = offers.find((offer) => offer.name === name) ?? {};
    // An epoch counts Debian's renumberings, not upstream versions.
    const upstream = parseVersion(version.replace(/^\d+:/, ''));
    if (upstream !== undefined && isAtLeast(upstream, least)) continue;
    throw new ToolsError(
      'SLW_TOOLS_PACKAGE',
      `Debian's package ${name}: version ${least.join('.')} or newer is needed, apt offers ${version}: use a newer Debian release`,
    );
  }
  await apt.download(offers, directory);
  return offers;
}

async function libraryPath(directory: string): Promise<string> {
  const found: string[] = [];
  for (const lib of ['lib', 'usr/lib']) {
    const names = await readdir(join(directory, lib)).catch(() => []);
    const triplets = names.filter((name) => name.includes('-linux-gnu'));
    for (const name of triplets) found.push(join(directory, lib, name), join(directory, lib, name, 'systemd'));
  }
  return found.join(':');
}
