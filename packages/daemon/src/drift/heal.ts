// Puts back what has drifted: each thing on its own is as it was or as the config has it, so no journal is needed.
import { UNIT_DIRECTORY } from '@slipway/fleet';
import { CORE, type DesiredEntry, type DesiredMachine, desiredMachineOf } from '../desired-machine.ts';
import type { Host } from '../host/host.ts';
import type { StoredConfig } from '../stored-config.ts';
import { type Drift, itemOf } from './drift.ts';
import { healPath, healRights, removeExtra } from './heal-path.ts';
import { healSshKeys } from './heal-ssh-keys.ts';

export interface HealProblem {
  readonly drift: Drift;
  /** For people. */
  readonly message: string;
}

/** What could not be put back; the rest is on the disk. Nothing is restarted: only a reload of the unit files follows. */
export async function heal(host: Host, config: StoredConfig, drifts: readonly Drift[]): Promise<HealProblem[]> {
  const desired = await desiredMachineOf(config);
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
  const paths = inOrder(onePerItem(open.filter(({ name }) => name.startsWith('/'))), desired);
  const units = onePerItem(open.filter(({ kind }) => kind === 'unit'));
  const isRewritten = ({ name }: Drift) => name.startsWith(`${UNIT_DIRECTORY}/`);

  await each(paths, (drift) => putBack(host, desired, drift, open));
  await each(paths, (drift) => linkAgain(host, desired, drift.name));
  await each(units, (drift) => unmask(host, desired, drift.name));
  await each([...paths.filter(isRewritten), ...units].slice(0, 1), () => host.systemd.daemonReload());
  await each(units, (drift) => enableOrDisable(host, desired, drift.name));
  await each(onePerItem(open.filter(({ name }) => name === CORE)), (drift) => healCore(host, desired, drift));
  return problems;
}

function onePerItem(drifts: readonly Drift[]): Drift[] {
  return [...new Map(drifts.map((drift) => [itemOf(drift), drift])).values()];
}

const ORDER: readonly (DesiredEntry['kind'] | undefined)[] = [undefined, 'directory', 'file', 'link', 'hard link'];

/** What must not be there first, then directories before what is in them, and files before their second names. */
function inOrder(drifts: readonly Drift[], { entries }: DesiredMachine): Drift[] {
  const rank = ({ name }: Drift) => ORDER.indexOf(entries.get(name)?.kind);
  return drifts.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

async function putBack(host: Host, { entries }: DesiredMachine, { name }: Drift, all: readonly Drift[]): Promise<void> {
  const entry = entries.get(name);
  if (entry === undefined) return removeExtra(host.files, name);
  const kinds = all.filter((drift) => drift.name === name).map(({ kind }) => kind);
  const onlyRights = kinds.every((kind) => kind === 'permission' || kind === 'owner');
  // Contents of the OS that the config adds to are not ours to write, but mode and owner are.
  return onlyRights ? healRights(host, entry) : healEntry(host, entry);
}

async function healEntry(host: Host, entry: DesiredEntry): Promise<void> {
  return healPath(host, entry.kind === 'file' ? { ...entry, bytes: await entry.bytes() } : entry);
}

/** A file that was replaced has lost its second names to the one before. */
async function linkAgain(host: Host, { entries }: DesiredMachine, path: string): Promise<void> {
  for (const entry of entries.values()) {
    if (entry.kind === 'hard link' && entry.target === path) await healPath(host, entry);
  }
}

async function unmask({ files }: Host, { units }: DesiredMachine, unit: string): Promise<void> {
  if (!units.some(({ name, unmasked }) => name === unit && unmasked)) return;
  const path = `${UNIT_DIRECTORY}/${unit}`;
  const found = await files.lookAt(path);
  if (found?.kind === 'link' && found.target === '/dev/null') await removeExtra(files, path);
}

async function enableOrDisable({ systemd }: Host, { units }: DesiredMachine, unit: string): Promise<void> {
  const enabled = units.find(({ name }) => name === unit)?.enabled;
  if (enabled === true) await systemd.enable([unit]);
  if (enabled === false) await systemd.disable([unit]);
}

async function healCore(host: Host, { core }: DesiredMachine, { kind }: Drift): Promise<void> {
  if (kind === 'ssh keys' && core.sshKeys !== null) await healSshKeys(host, core.sshKeys);
  if (kind === 'password' && core.passwordHash !== null) await host.accounts.setPasswordHash(CORE, core.passwordHash);
}
