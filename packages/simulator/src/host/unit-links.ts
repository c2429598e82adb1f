// The links of systemd to units on a disk.
import { posix } from 'node:path';
import {
  type CONFIG_DIRECTORY,
  type FileSystem,
  makeDirectories,
  type Owners,
  type RUNTIME_DIRECTORY,
  UNIT_DIRECTORIES,
} from '@slipway/daemon/host';

/** A link that makes a unit a dependency of another one, or gives it another name. */
export interface UnitLink {
  readonly path: string;
  readonly name: string;
  readonly target: string;
  /** In a directory such as multi-user.target.wants. */
  readonly isDependency: boolean;
}

const DEPENDENCY_DIRECTORY = /\.(wants|requires|upholds)$/;

export async function listUnitLinks(
  files: FileSystem,
  directory: typeof CONFIG_DIRECTORY | typeof RUNTIME_DIRECTORY,
): Promise<UnitLink[]> {
  const links: UnitLink[] = [];
  for (const name of await files.list(directory)) {
    const path = posix.join(directory, name);
    if (!DEPENDENCY_DIRECTORY.test(name)) links.push(...(await linkAt(files, path, false)));
    else
      for (const entry of await files.list(path)) links.push(...(await linkAt(files, posix.join(path, entry), true)));
  }
  return links;
}

async function linkAt(files: FileSystem, path: string, isDependency: boolean): Promise<UnitLink[]> {
  const found = await files.lookAt(path);
  return found?.kind === 'link' ? [{ path, name: posix.basename(path), target: found.target, isDependency }] : [];
}

/** Resolves to the conflicting target if another link is in the way. Null: the link is in place. */
export async function makeUnitLink(
  files: FileSystem,
  path: string,
  target: string,
  owners: Owners,
): Promise<string | null> {
  const found = await files.lookAt(path);
  if (found !== null) return found.kind === 'link' && isSameUnit(found.target, target) ? null : describe(found);
  const directory = posix.dirname(path);
  await makeDirectories(files, directory, owners);
  await files.makeLink(path, { ...owners, target });
  await files.syncDirectory(directory);
  return null;
}

/** Also removes the directory of dependencies if it is empty now. */
export async function removeUnitLink(files: FileSystem, link: UnitLink): Promise<void> {
  await files.remove(link.path);
  const directory = posix.dirname(link.path);
  await files.syncDirectory(directory);
  if (!link.isDependency || (await files.list(directory)).length > 0) return;
  await files.removeDirectory(directory);
  await files.syncDirectory(posix.dirname(directory));
}

/**
 * A link to the unit file of the OS also counts for the one in /etc that overrides it: systemd compares only the name.
 */
function isSameUnit(target: string, wanted: string): boolean {
  const [directory, name] = [posix.dirname(target), posix.basename(target)];
  return name === posix.basename(wanted) && UNIT_DIRECTORIES.includes(directory);
}

function describe(found: { readonly kind: string; readonly target?: string }): string {
  return found.target === undefined ? `a ${found.kind}` : `a link to ${found.target}`;
}
