// The machine against a config: reads what the pure comparisons ask for.
import { UNIT_DIRECTORY } from '@slipway/fleet';
import {
  CORE,
  type DesiredEntry,
  type DesiredMachine,
  desiredMachineOf,
  type DesiredUser,
} from '../desired-machine.ts';
import type { Host } from '../host/host.ts';
import type { StoredConfig } from '../stored-config.ts';
import { readBaseline } from './baseline.ts';
import { type Check, checkEntry } from './check-entry.ts';
import type { Difference } from './compare-entry.ts';
import { compareOS } from './compare-os.ts';
import { compareUnit } from './compare-unit.ts';
import { diffContents } from './contents-diff.ts';
import { type Drift, shown } from './drift.ts';
import { findUnitExtras, lookForExtra } from './unit-extras.ts';
import { createVerifyMemory, type VerifyMemory } from './verify-memory.ts';

export interface VerifyOptions {
  /** From check to check: what did not change is then not read again. */
  readonly memory?: VerifyMemory;
}

/** Empty: the machine is exactly that. Rejects where the config cannot be read, or a part of the host gives no answer. */
export async function verifyMachine(host: Host, config: StoredConfig, options: VerifyOptions = {}): Promise<Drift[]> {
  const { memory = createVerifyMemory() } = options;
  const desired = await desiredMachineOf(config);
  const check: Check = { host, memory, owners: new Map() };
  const differences = [
    ...(await checkAll(check, desired.entries.values())),
    ...(await verifyExtras(check, desired)),
    ...(await verifyUnits(check, desired)),
    ...(await verifyCore(check, desired.core)),
    ...compareOS(desired.os, await memory.os(() => askOS(host))),
  ];
  return withDiffs(host, desired, differences);
}

async function checkAll(check: Check, entries: Iterable<DesiredEntry>): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const entry of entries) differences.push(...(await checkEntry(check, entry)));
  return differences;
}

/** Only against a baseline of this very config: what was there when it was reached is not known otherwise. */
async function verifyExtras({ host: { files } }: Check, desired: DesiredMachine): Promise<Difference[]> {
  const baseline = await readBaseline(files);
  if (baseline?.config !== desired.config) return [];
  const tolerated = new Set(baseline.tolerated);
  const extras = (await findUnitExtras(files, desired)).filter((path) => !tolerated.has(path));
  const back: string[] = [];
  for (const path of baseline.absent) {
    if ((await lookForExtra(files, path)) !== null) back.push(path);
  }
  return [
    ...extras.map((path) =>
      extra(path, 'expected nothing there, since the config has no such file for this unit; found one'),
    ),
    ...back.map((path) =>
      extra(path, 'expected nothing there, since an earlier config had it and this one has not; found something'),
    ),
  ];
}

function extra(path: string, text: string): Difference {
  return { kind: 'extra', name: path, message: `${shown(path)}: ${text}`, canHeal: true };
}

async function verifyUnits({ host, memory }: Check, { units }: DesiredMachine): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const unit of units) {
    const mask = unit.unmasked ? await lookForExtra(host.files, `${UNIT_DIRECTORY}/${unit.name}`) : null;
    const enablement =
      unit.enabled === null ? '' : await memory.enablement(unit.name, (name) => host.systemd.enablement(name));
    const isMasked = mask?.kind === 'link' && mask.target === '/dev/null';
    differences.push(...compareUnit(unit, { enablement, isMasked }));
  }
  return differences;
}

async function verifyCore(check: Check, { sshKeys, passwordHash }: DesiredUser): Promise<Difference[]> {
  const differences: Difference[] = [];
  if (sshKeys !== null) differences.push(...(await verifyKeys(check, sshKeys)));
  if (passwordHash !== null && (await check.host.accounts.passwordHash(CORE)) !== passwordHash) {
    const message = `user ${CORE}: expected the password hash of the config in /etc/shadow, found another one`;
    differences.push({ kind: 'password', name: CORE, message, canHeal: true });
  }
  return differences;
}

async function verifyKeys(check: Check, keys: NonNullable<DesiredUser['sshKeys']>): Promise<Difference[]> {
  const home = await check.host.accounts.home(CORE);
  if (home === undefined) {
    const message = `user ${CORE}: expected ssh keys in its home directory, found no such user`;
    return [{ kind: 'ssh keys', name: CORE, message, canHeal: false }];
  }
  const checkAt = (path: string) => {
    const { mode, contents } = keys;
    const owners = { user: { id: home.uid }, group: { id: home.gid } };
    return checkEntry(check, {
      kind: 'file',
      path,
      mode,
      contents,
      keepsExisting: false,
      leaves: new Set(),
      ...owners,
    });
  };
  const [fragment, whole] = keys.paths.map((path) => `${home.path}/${path}`);
  const differences = await checkAt(fragment ?? '');
  const isMissing = differences.some(({ kind }) => kind === 'missing');
  // A client that is built without fragments has written them to the file that people write to as well.
  if (isMissing && (await checkAt(whole ?? '')).length === 0) return [];
  return differences.map(({ message, canHeal }) => {
    return { kind: 'ssh keys', name: CORE, message: `user ${CORE}: ssh keys, ${message}`, canHeal };
  });
}

async function askOS({ os }: Host) {
  const { booted } = await os.state();
  return { booted, fips: await os.fips() };
}

/** To make and to read: who has more than these wants no more of them. */
const MOST_DIFFS = 20;
const MOST_SHOWN = 1024 * 1024;

async function withDiffs(
  host: Host,
  { entries }: DesiredMachine,
  differences: readonly Difference[],
): Promise<Drift[]> {
  const shown = new Set(differences.filter(({ kind }) => kind === 'file' || kind === 'extra').slice(0, MOST_DIFFS));
  const drifts: Drift[] = [];
  for (const difference of differences) {
    const diff = shown.has(difference) ? await diffAt(host, difference.name, entries.get(difference.name)) : '';
    drifts.push({ ...difference, diff });
  }
  return drifts;
}

async function diffAt({ files }: Host, path: string, entry: DesiredEntry | undefined): Promise<string> {
  // What the OS has before the config's own bytes would stand there as if somebody had added it.
  if (entry?.kind === 'file' && entry.keepsExisting) return '';
  try {
    const found = await files.lookAt(path);
    if (found?.kind !== 'file' || found.size > MOST_SHOWN) return '';
    const expected = entry?.kind === 'file' ? { bytes: await entry.bytes(), mode: entry.mode } : null;
    return await diffContents(path, expected, { bytes: await files.read(path, MOST_SHOWN), mode: found.mode });
  } catch {
    // It changed while it was being looked at: the next check has it.
    return '';
  }
}
