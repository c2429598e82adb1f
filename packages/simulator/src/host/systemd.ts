// The part of systemd that is visible on a disk: `systemctl enable`, `disable`, `preset` and `is-enabled` without a
// running systemd, which only change links, and a record of what would be started.
import { posix } from 'node:path';
import { DaemonError } from '@slipway/daemon';
import {
  buildUnitError,
  canBeEnabled,
  CONFIG_DIRECTORY,
  type Details,
  type FileSystem,
  findUnit,
  listAliases,
  listEnablingLinks,
  makeDirectories,
  nameEnabled,
  type Owners,
  readList,
  readText,
  replaceFile,
  RUNTIME_DIRECTORY,
  type Systemd,
  toTemplate,
  type Unit,
} from '@slipway/daemon/host';
import { evaluatePresets, readPresetRules } from './presets.ts';
import { listUnitLinks, makeUnitLink, removeUnitLink, type UnitLink } from './unit-links.ts';

export function createSimulatedSystemd(files: FileSystem, owners: Owners, details: Details): Systemd {
  return {
    enablement: (unit) => readEnablement(files, unit),
    enable: (units) => enableUnits(files, owners, units),
    disable: (units) => disableUnits(files, units),
    preset: (units) => presetUnits(files, owners, units),
    daemonReload: () => recordAction(files, owners, { what: 'daemon-reload', name: '' }),

    async reload(unit) {
      await mustStart(files, details, 'reload', unit);
      await recordAction(files, owners, { what: 'reload', name: unit });
    },

    async restart(unit) {
      await mustStart(files, details, 'restart', unit);
      await recordAction(files, owners, { what: 'restart', name: unit });
    },
  };
}

const FALSE = /^[-@:+!]*(\/usr)?\/bin\/false(\s|$)/;

/** What a unit prints: the words that it echoes before it starts. */
const ECHO = /^[-@:+!]*(?:\/usr)?\/bin\/echo\s+/;

async function mustStart(files: FileSystem, details: Details, verb: string, name: string): Promise<void> {
  const unit = await findUnit(files, name);
  if (unit.kind !== 'unit') {
    const why = unit.kind === 'masked' ? 'it is masked' : 'this machine has no such unit file';
    throw new DaemonError('SLW_DAEMON_UNIT', `Cannot ${verb} ${name}: ${why}.`);
  }
  const start = unit.settings.get('Service.ExecStart') ?? [];
  if (!start.some((command) => FALSE.test(command))) return;
  const log = (unit.settings.get('Service.ExecStartPre') ?? []).map((command) => command.replace(ECHO, ''));
  const run = () => Promise.resolve({ status: 0, stdout: log.join('\n'), stderr: '' });
  const why = `its process exited with status 1. Expected it to start; see its ExecStart in ${unit.path}.`;
  throw await buildUnitError({ run, details }, verb, name, why);
}

// Requests to the machine that leave no other trace. Lost at the next boot.

export interface RecordedAction {
  readonly what: 'daemon-reload' | 'reload' | 'restart' | 'prefetch';
  /** The unit or the image. '' for all. */
  readonly name: string;
}

const DIRECTORY = '/run/slipway-simulated';
const DONE = `${DIRECTORY}/done`;
const MAX_RECORDS = 200;
const MAX_RECORD_BYTES = 1024 * 1024;

export async function listRecordedActions(files: FileSystem): Promise<RecordedAction[]> {
  const lines = ((await readText(files, DONE, MAX_RECORD_BYTES)) ?? '').split('\n');
  return lines.flatMap((line) => {
    const [what, name = ''] = line.split(' ');
    return what === 'daemon-reload' || what === 'reload' || what === 'restart' || what === 'prefetch'
      ? [{ what, name }]
      : [];
  });
}

export async function recordAction(files: FileSystem, owners: Owners, done: RecordedAction): Promise<void> {
  const all = [...(await listRecordedActions(files)), done].slice(-MAX_RECORDS);
  await makeDirectories(files, DIRECTORY, owners);
  const bytes = Buffer.from(all.map(({ what, name }) => `${what} ${name}\n`).join(''));
  // Not synced, like everything below /run.
  await replaceFile(files, DONE, { ...owners, bytes, mode: 0o644 }, { sync: false });
}

// Enablement.

async function readEnablement(files: FileSystem, name: string): Promise<string> {
  const unit = await findUnit(files, name);
  if (unit.kind === 'masked') return unit.at.startsWith(RUNTIME_DIRECTORY) ? 'masked-runtime' : 'masked';
  if (unit.kind !== 'unit') return unit.kind;
  if (unit.name !== name) return 'alias';
  const known = knownNames(unit);
  const persistent = (await listUnitLinks(files, CONFIG_DIRECTORY)).filter((link) => isOfUnit(link, unit));
  if (persistent.some((link) => known.has(link.name))) return 'enabled';
  const runtime = (await listUnitLinks(files, RUNTIME_DIRECTORY)).filter((link) => isOfUnit(link, unit));
  if (runtime.some((link) => known.has(link.name))) return 'enabled-runtime';
  if (persistent.length + runtime.length > 0) return 'indirect';
  if (canBeEnabled(unit)) return 'disabled';
  return readList(unit.settings, 'Install.Also').length > 0 ? 'indirect' : 'static';
}

/** The names of links to the unit that `enable` creates. */
function knownNames(unit: Unit): Set<string> {
  return new Set([unit.name, nameEnabled(unit), ...listAliases(unit)]);
}

function isOfUnit(link: UnitLink, unit: Unit): boolean {
  const name = nameEnabled(unit);
  if (link.isDependency) return [unit.name, name].includes(link.name) || toTemplate(link.name) === unit.name;
  return link.name !== unit.name && posix.basename(link.target) === unit.name;
}

/** If one of them cannot be enabled, none is. */
async function enableUnits(files: FileSystem, owners: Owners, names: readonly string[]): Promise<void> {
  const units = await resolveAlso(files, names);
  for (const { path, target } of units.flatMap(listEnablingLinks)) {
    const inTheWay = await makeUnitLink(files, path, target, owners);
    if (inTheWay !== null) {
      throw new DaemonError(
        'SLW_DAEMON_UNIT',
        `Cannot enable ${posix.basename(target)}: expected a link to ${target} at ${path}, found ${inTheWay}. Remove it.`,
      );
    }
  }
}

async function resolveAlso(files: FileSystem, names: readonly string[]): Promise<Unit[]> {
  const units = new Map<string, Unit>();
  const also: string[] = [];
  for (const name of names) {
    const unit = await findUnit(files, name);
    if (unit.kind !== 'unit') throw cannotEnable(name, unit.kind);
    units.set(unit.name, unit);
    also.push(...readList(unit.settings, 'Install.Also'));
  }
  for (let next = also.shift(); next !== undefined; next = also.shift()) {
    const unit = units.has(next) ? undefined : await findUnit(files, next);
    if (unit?.kind !== 'unit') continue;
    units.set(unit.name, unit);
    also.push(...readList(unit.settings, 'Install.Also'));
  }
  return [...units.values()];
}

function cannotEnable(name: string, found: 'not-found' | 'masked' | 'linked'): DaemonError {
  const why = {
    'not-found': 'this machine has no such unit file. Specify contents for the unit, or do not enable it.',
    masked: 'it is masked. Do not mask a unit that must be enabled.',
    linked: 'it is a link to a file outside the systemd directories, and must be enabled by that path.',
  }[found];
  return new DaemonError('SLW_DAEMON_UNIT', `Cannot enable ${name}: ${why}`);
}

async function disableUnits(files: FileSystem, names: readonly string[]): Promise<void> {
  const gone = await namesToRemove(files, names);
  // Removing a link removes its name, and then the links to that name must go too.
  for (let removed = true; removed;) {
    removed = false;
    for (const link of await listUnitLinks(files, CONFIG_DIRECTORY)) {
      if (!leadsToOne(link, gone)) continue;
      await removeUnitLink(files, link);
      gone.add(link.name);
      removed = true;
    }
  }
}

async function namesToRemove(files: FileSystem, names: readonly string[]): Promise<Set<string>> {
  const gone = new Set<string>();
  const queue = [...names];
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    const unit = gone.has(name) ? undefined : await findUnit(files, name);
    if (unit === undefined || unit.kind === 'masked') continue;
    gone.add(name);
    if (unit.kind === 'unit') queue.push(...readList(unit.settings, 'Install.Also'), unit.name);
  }
  return gone;
}

function leadsToOne(link: UnitLink, names: ReadonlySet<string>): boolean {
  if (link.target === '/dev/null') return false;
  const candidates = [link.name, toTemplate(link.name), posix.basename(link.target)];
  return candidates.some((name) => name !== undefined && names.has(name));
}

async function presetUnits(files: FileSystem, owners: Owners, names: readonly string[]): Promise<void> {
  const rules = await readPresetRules(files);
  for (const name of names) {
    const unit = await findUnit(files, name);
    if (unit.kind !== 'unit' || unit.name !== name) continue;
    const { action, units } = evaluatePresets(rules, name);
    if (action === 'enable') await enableUnits(files, owners, units);
    if (action === 'disable') await disableUnits(files, [name]);
  }
}
