// Puts back what has drifted: each thing on its own is as it was or as the config has it, so no journal is needed.
import { type DiskEntry, type DiskPlan, UNIT_DIRECTORY } from '@slipway/fleet';
import type { Host } from '../host/host.ts';
import type { StoredConfig } from '../stored-config.ts';
import { type Drift, itemOf } from './drift.ts';
import { CORE, diskPlanOf, expectedOf } from './expected.ts';
import { healPath, healRights, removeExtra } from './heal-path.ts';
import { healSshKeys } from './heal-ssh-keys.ts';

export interface HealProblem {
  readonly drift: Drift;
  /** For people. */
  readonly message: string;
}

/** What could not be put back; the rest is on the disk. Nothing is restarted: only a reload of the unit files follows. */
export async function heal(host: Host, config: StoredConfig, drifts: readonly Drift[]): Promise<HealProblem[]> {
  const wanted = { disk: await diskPlanOf(config), expected: await expectedOf(config) };
  const problems: HealProblem[] = [];
  const each = async (some: readonly Drift[], act: (drift: Drift) => Promise<void>) => {
    for (const drift of some) {
      try {
        await act(drift);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        problems.push({ drift, message: `${drift.message}; it cannot be put back: ${reason.slice(0, 500)}` });
      }
    }
  };
  const open = drifts.filter(({ canHeal }) => canHeal);
  const paths = inOrder(onePerItem(open.filter(({ name }) => name.startsWith('/'))), wanted.disk);
  const units = onePerItem(open.filter(({ kind }) => kind === 'unit'));
  const isRewritten = ({ name }: Drift) => name.startsWith(`${UNIT_DIRECTORY}/`);

  await each(paths, (drift) => putBack(host, wanted, drift, open));
  await each(paths, (drift) => linkAgain(host, wanted.disk, drift.name));
  await each(units, (drift) => unmask(host, wanted.disk, drift.name));
  await each([...paths.filter(isRewritten), ...units].slice(0, 1), () => host.systemd.daemonReload());
  await each(units, (drift) => enableOrDisable(host, wanted.disk, drift.name));
  await each(onePerItem(open.filter(({ name }) => name === CORE)), (drift) => healCore(host, wanted.disk, drift));
  return problems;
}

function onePerItem(drifts: readonly Drift[]): Drift[] {
  return [...new Map(drifts.map((drift) => [itemOf(drift), drift])).values()];
}

const ORDER: readonly (DiskEntry['kind'] | undefined)[] = [undefined, 'directory', 'file', 'link', 'hard link'];

/** What must not be there first, then directories before what is in them, and files before their second names. */
function inOrder(drifts: readonly Drift[], { entries }: DiskPlan): Drift[] {
  const kinds = new Map(entries.map(({ path, kind }) => [path, kind]));
  const rank = ({ name }: Drift) => ORDER.indexOf(kinds.get(name));
  return drifts.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

async function putBack(
  host: Host,
  { disk, expected }: { disk: DiskPlan; expected: Awaited<ReturnType<typeof expectedOf>> },
  { name }: Drift,
  all: readonly Drift[],
): Promise<void> {
  const entry = disk.entries.find(({ path }) => path === name);
  if (entry === undefined) return removeExtra(host.files, name);
  const kinds = all.filter((drift) => drift.name === name).map(({ kind }) => kind);
  const named = expected.entries.find(({ path }) => path === name);
  const onlyRights = kinds.every((kind) => kind === 'permission' || kind === 'owner');
  // Contents of the OS that the config adds to are not ours to write, but mode and owner are.
  await (onlyRights && named !== undefined ? healRights(host, named) : healPath(host, entry));
}

/** A file that was replaced has lost its second names to the one before. */
async function linkAgain(host: Host, { entries }: DiskPlan, path: string): Promise<void> {
  for (const entry of entries) {
    if (entry.kind === 'hard link' && entry.target === path) await healPath(host, entry);
  }
}

async function unmask({ files }: Host, { unmasked }: DiskPlan, unit: string): Promise<void> {
  const path = `${UNIT_DIRECTORY}/${unit}`;
  const found = unmasked.includes(path) ? await files.lookAt(path) : null;
  if (found?.kind === 'link' && found.target === '/dev/null') await removeExtra(files, path);
}

async function enableOrDisable({ systemd }: Host, { presets }: DiskPlan, unit: string): Promise<void> {
  const isInstance = (template: string, instance: string) => template.replace('@', () => `@${instance}`) === unit;
  const wanted = presets.find(
    (preset) => preset.unit === unit || preset.instances.some((each) => isInstance(preset.unit, each)),
  );
  if (wanted?.action === 'enable') await systemd.enable([unit]);
  if (wanted?.action === 'disable') await systemd.disable([unit]);
}

async function healCore(host: Host, { users }: DiskPlan, { kind }: Drift): Promise<void> {
  const core = users.find(({ name }) => name === CORE);
  if (kind === 'ssh keys' && core?.sshKeys !== undefined) await healSshKeys(host, core.sshKeys);
  if (kind === 'password' && core?.passwordHash !== undefined) {
    await host.accounts.setPasswordHash(CORE, core.passwordHash);
  }
}
