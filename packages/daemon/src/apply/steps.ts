// All of an update that changes the machine, there and back: files, units, password, OS, services. Every part may be done again.
import { posix } from 'node:path';
import { type Change, type NodeAction, computeRollback, UNIT_DIRECTORY } from '@slipway/fleet';
import { type DesiredEntry, loadDesiredMachine } from '../desired-machine.ts';
import type { Deployment, Host, OSChange } from '../host/host.ts';
import { type Problem, toProblem } from '../problem.ts';
import type { StoredConfig } from '../stored-config.ts';
import type { Journal } from './journal.ts';
import { applyMove, syncDirectories, revertMove } from './moves.ts';
import { NO_PASSWORD } from './survey-core-user.ts';

/** By its name its failure is told. */
export interface ApplyStep {
  readonly name: string;
  act(): Promise<void>;
}

/** Null: all parts were done. What comes after a failure is not begun. */
export async function runSteps(steps: readonly ApplyStep[]): Promise<Problem | null> {
  for (const step of steps) {
    try {
      await step.act();
    } catch (error) {
      return toProblem(error, step.name);
    }
  }
  return null;
}

export function buildForwardSteps(host: Host, journal: Journal): ApplyStep[] {
  const { files, systemd, os, accounts } = host;
  const { moves, units, changes, from, to } = journal;
  return [
    { name: 'disabling units that are rewritten', act: () => disable(host, selectUnitsToDisableFirst(units)) },
    {
      name: 'changing files',
      async act() {
        for (const move of moves) await applyMove(files, move);
        await syncDirectories(files, listMovedDirectories(journal));
      },
    },
    { name: 'enabling and disabling units', act: () => applyUnitOrders(systemd, decideUnitOrders(units)) },
    {
      name: 'setting the password of the user core',
      async act() {
        if (journal.oldPasswordHash === null) return;
        const { core } = await loadDesiredMachine(to);
        await accounts.setPasswordHash('core', core.passwordHash ?? NO_PASSWORD);
      },
    },
    {
      name: 'staging the OS',
      async act() {
        const change = computeOSChange(changes, from.spec, to.spec);
        // Changes are made to what is booted: in a machine that has booted into them already they would be made twice.
        if (change !== null && (await runsOldOS(host, journal))) await os.stage(change);
      },
    },
  ];
}

export function buildRollbackSteps(host: Host, journal: Journal): ApplyStep[] {
  const { files, systemd, os, accounts } = host;
  const { moves, commit, units, changes, from, to } = journal;
  return [
    { name: 'disabling units that were rewritten', act: () => disable(host, selectUnitsToDisableOnRollback(units)) },
    {
      name: 'putting files back',
      async act() {
        for (const move of [...moves, commit].toReversed()) await revertMove(files, move);
        await syncDirectories(files, [...listMovedDirectories(journal), posix.dirname(commit.path)]);
      },
    },
    {
      name: 'bringing units back to what they were',
      act: () => applyUnitOrders(systemd, decideRollbackUnitOrders(units)),
    },
    {
      name: 'setting the old password of the user core',
      async act() {
        if (journal.oldPasswordHash !== null) await accounts.setPasswordHash('core', journal.oldPasswordHash);
      },
    },
    {
      name: 'bringing the OS back',
      async act() {
        const change = computeOSChange(computeRollback({ changes }), to.spec, from.spec);
        if (change === null) return;
        if (await runsOldOS(host, journal)) await os.discard();
        else await os.stage(change);
      },
    },
  ];
}

/** The update changes the OS, and the machine still, or again, runs the one from before. */
export async function runsOldOS({ os }: Host, { oldOS }: Journal): Promise<boolean> {
  return oldOS !== null && computeMark((await os.state()).booted) === oldOS;
}

/** The services that the plan names, told in its order. */
export function buildActionSteps({ systemd }: Host, actions: readonly NodeAction[]): ApplyStep[] {
  return actions.flatMap((action) => {
    switch (action.type) {
      case 'DaemonReload':
        return { name: 'systemctl daemon-reload', act: () => systemd.daemonReload() };
      case 'Reload':
        return { name: `reloading ${action.unit}`, act: () => systemd.reload(action.unit) };
      case 'Restart':
        return { name: `restarting ${action.unit}`, act: () => systemd.restart(action.unit) };
      case 'Drain':
      case 'Reboot':
        // Not for services: the one comes before the first change, the other is a step of its own.
        return [];
    }
  });
}

async function disable({ systemd }: Host, units: readonly string[]): Promise<void> {
  if (units.length > 0) await systemd.disable(units);
}

async function applyUnitOrders(systemd: Host['systemd'], { enable, disable, preset }: UnitOrders): Promise<void> {
  if (disable.length > 0) await systemd.disable(disable);
  if (preset.length > 0) await systemd.preset(preset);
  if (enable.length > 0) await systemd.enable(enable);
}

function* listMovedDirectories({ moves }: Journal): Generator<string> {
  for (const { path } of moves) yield posix.dirname(path);
}

/**
 * Whether a unit is enabled, disabled or preset, before files change and after, on the way there and on the way back.
 */
export interface UnitStep {
  readonly unit: string;
  /** Its file, mask or a drop-in changes, and with it perhaps what it is wanted by. */
  readonly rewritten: boolean;
  /** As the service manager said it before the update. */
  readonly was: string;
  readonly before: DesiredEnablement;
  readonly after: DesiredEnablement;
  /** The config masks it: then it is not enabled, whatever else is said of it. */
  readonly masked: boolean;
}

export interface UnitOrders {
  readonly enable: readonly string[];
  readonly disable: readonly string[];
  readonly preset: readonly string[];
}

type DesiredEnablement = 'enabled' | 'disabled' | 'preset';

export async function planUnitSteps(
  changes: readonly Change[],
  entries: Iterable<DesiredEntry>,
  enablement: (unit: string) => Promise<string>,
): Promise<UnitStep[]> {
  const masks = new Set<string>();
  for (const entry of entries) if (entry.kind === 'link' && entry.of === 'mask') masks.add(entry.path);
  const steps: UnitStep[] = [];
  for (const change of changes) {
    if (change.kind !== 'unit') continue;
    const { unit, rewritten } = change;
    const [before, after] = [change.before.enabled, change.after.enabled];
    const masked = masks.has(`${UNIT_DIRECTORY}/${unit}`);
    steps.push({ unit, rewritten, was: await enablement(unit), before, after, masked });
  }
  return steps;
}

/** The links that a unit's old [Install] asked for are found by its old file only, so they go first. */
export function selectUnitsToDisableFirst(steps: readonly UnitStep[]): string[] {
  return steps.filter(({ rewritten, was }) => rewritten && was === 'enabled').map(({ unit }) => unit);
}

export function decideUnitOrders(steps: readonly UnitStep[]): UnitOrders {
  return collect(steps, ({ masked, before, after, was }) => {
    if (masked) return 'nothing';
    if (after !== 'preset') return after === 'enabled' ? 'enable' : 'disable';
    // The config has no say, and had none: what somebody else made of the unit stays.
    if (before === 'preset' && !NOT_THERE.has(was)) return was === 'enabled' ? 'enable' : 'nothing';
    return 'preset';
  });
}

/** Links that the new files asked for go before the old files are back; but none that could not be made again. */
export function selectUnitsToDisableOnRollback(steps: readonly UnitStep[]): string[] {
  const isKnown = (was: string) => was === 'enabled' || WITHOUT_LINKS.has(was);
  return steps.filter(({ rewritten, was }) => rewritten && isKnown(was)).map(({ unit }) => unit);
}

export function decideRollbackUnitOrders(steps: readonly UnitStep[]): UnitOrders {
  return collect(steps, ({ was }) => {
    if (was === 'enabled') return 'enable';
    return WITHOUT_LINKS.has(was) ? 'disable' : 'nothing';
  });
}

const NOT_THERE: ReadonlySet<string> = new Set(['not-found', 'masked', 'masked-runtime']);
const WITHOUT_LINKS: ReadonlySet<string> = new Set(['disabled', 'static', ...NOT_THERE]);

function collect(steps: readonly UnitStep[], orderFor: (step: UnitStep) => keyof UnitOrders | 'nothing'): UnitOrders {
  const orders = { enable: [] as string[], disable: [] as string[], preset: [] as string[] };
  for (const step of steps) {
    const order = orderFor(step);
    if (order !== 'nothing') orders[order].push(step.unit);
  }
  return orders;
}

type Spec = StoredConfig['spec'];

/**
 * What an update asks of the OS itself, in either direction: for the way back, the changes of the way back and the configs
 * exchanged. Null: nothing of the OS changes.
 */
export function computeOSChange(changes: readonly Change[], from: Spec, to: Spec): OSChange | null {
  const parts = changes.map((change) => toOSChange(change, from, to));
  const change: OSChange = Object.assign({}, ...parts);
  if (Object.keys(change).length === 0) return null;
  return usesPackages(from) || usesPackages(to)
    ? { ...change, extensionsImage: to.baseOSExtensionsContainerImage ?? '' }
    : change;
}

function toOSChange(change: Change, from: Spec, to: Spec): OSChange {
  switch (change.kind) {
    case 'kernel arguments':
      return {
        kernelArguments: {
          removed: change.removed,
          added: change.added,
          all: { before: change.before, after: change.after },
        },
      };
    case 'extensions':
      return toExtensionsChange(from, to);
    case 'setting':
      return toSettingChange(change, from, to);
    case 'path':
    case 'unit':
    case 'ssh keys':
    case 'password':
      return {};
  }
}

function toSettingChange(
  { setting, before, after }: Extract<Change, { kind: 'setting' }>,
  from: Spec,
  to: Spec,
): OSChange {
  switch (setting) {
    case 'osImageURL':
      // A config that names no image leaves the machine the one it has.
      return after === '' ? {} : { image: after };
    case 'kernelType':
      return { kernelType: { before, after } };
    case 'baseOSExtensionsContainerImage':
      // The same packages, of another version.
      return usesPackages(to) ? toExtensionsChange(from, to) : {};
    case 'fips':
      return {};
  }
}

function toExtensionsChange(from: Spec, to: Spec): OSChange {
  return { extensions: { before: from.extensions ?? [], after: to.extensions ?? [] } };
}

function usesPackages({ extensions = [], kernelType = '' }: Spec): boolean {
  return extensions.length > 0 || (kernelType !== '' && kernelType !== 'default');
}

/** Two deployments with the same mark are the same to a machine. */
export function computeMark({ image, digest, version, checksum = '', kernelArguments, packages }: Deployment): string {
  return JSON.stringify([image, digest, version, checksum, kernelArguments, packages]);
}
