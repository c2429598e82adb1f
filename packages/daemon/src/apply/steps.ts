// The steps of an update that change the machine, forward and back: files, units, password, OS, services. Every step is
// idempotent.
import { posix } from 'node:path';
import { type Change, type NodeAction, computeOSChange, computeRollback, UNIT_DIRECTORY } from '@slipway/fleet';
import { type DesiredEntry, loadDesiredMachine } from '../desired-machine.ts';
import type { Deployment, Host } from '../host/host.ts';
import { type Problem, toProblem } from '../problem.ts';
import type { Journal } from './journal.ts';
import { applyMove, syncDirectories, revertMove } from './moves.ts';
import { NO_PASSWORD } from './survey-core-user.ts';

/** The name appears in the message if the step fails. */
export interface ApplyStep {
  readonly name: string;
  act(): Promise<void>;
}

/** Null: all steps succeeded. Stops at the first failure. */
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
    { name: 'disabling units whose files change', act: () => disable(host, selectUnitsToDisableFirst(units)) },
    {
      name: 'changing files',
      async act() {
        for (const move of moves) await applyMove(files, move);
        await syncDirectories(files, listMovedDirectories(journal));
      },
    },
    { name: 'enabling and disabling units', act: () => applyUnitOrders(systemd, decideUnitOrders(units)) },
    {
      name: 'setting the password of user core',
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
        // Changes are relative to the booted deployment. If the machine already runs the new one, they would be applied
        // twice.
        if (change !== null && (await runsOldOS(host, journal))) await os.stage(change);
      },
    },
  ];
}

export function buildRollbackSteps(host: Host, journal: Journal): ApplyStep[] {
  const { files, systemd, os, accounts } = host;
  const { moves, commit, units, changes, from, to } = journal;
  return [
    {
      name: 'disabling units whose files are restored',
      act: () => disable(host, selectUnitsToDisableOnRollback(units)),
    },
    {
      name: 'restoring files',
      async act() {
        for (const move of [...moves, commit].toReversed()) await revertMove(files, move);
        await syncDirectories(files, [...listMovedDirectories(journal), posix.dirname(commit.path)]);
      },
    },
    {
      name: 'restoring the state of units',
      act: () => applyUnitOrders(systemd, decideRollbackUnitOrders(units)),
    },
    {
      name: 'restoring the password of user core',
      async act() {
        if (journal.oldPasswordHash !== null) await accounts.setPasswordHash('core', journal.oldPasswordHash);
      },
    },
    {
      name: 'rolling back the OS',
      async act() {
        const change = computeOSChange(computeRollback({ changes }), to.spec, from.spec);
        if (change === null) return;
        if (await runsOldOS(host, journal)) await os.discard();
        else await os.stage(change);
      },
    },
  ];
}

/** The update changes the OS, and the machine runs the previous one, either still or again. */
export async function runsOldOS({ os }: Host, { oldOS }: Journal): Promise<boolean> {
  return oldOS !== null && computeMark((await os.state()).booted) === oldOS;
}

/** Reloads and restarts, in the order of the plan. */
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
        // The drain happens before the first change, and the reboot is a separate step.
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

/** Whether a unit is enabled, disabled or preset: before and after the files change, forward and in a rollback. */
export interface UnitStep {
  readonly unit: string;
  /** Its file, mask or a drop-in changes, and with it possibly its [Install] section. */
  readonly rewritten: boolean;
  /** The state that systemd reported before the update. */
  readonly was: string;
  readonly before: DesiredEnablement;
  readonly after: DesiredEnablement;
  /** The config masks the unit, so it is not enabled whatever else the config specifies. */
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

/** The links of a unit's old [Install] section can be removed only while its old file is present. */
export function selectUnitsToDisableFirst(steps: readonly UnitStep[]): string[] {
  return steps.filter(({ rewritten, was }) => rewritten && was === 'enabled').map(({ unit }) => unit);
}

export function decideUnitOrders(steps: readonly UnitStep[]): UnitOrders {
  return collect(steps, ({ masked, before, after, was }) => {
    if (masked) return 'nothing';
    if (after !== 'preset') return after === 'enabled' ? 'enable' : 'disable';
    // Neither config specifies the state, so an administrator's choice stays.
    if (before === 'preset' && !NOT_THERE.has(was)) return was === 'enabled' ? 'enable' : 'nothing';
    return 'preset';
  });
}

/** Links of the new [Install] section are removed before the old files return, unless they could not be recreated. */
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

/** Deployments with the same mark are equivalent for a machine. */
export function computeMark({ image, digest, version, checksum = '', kernelArguments, packages }: Deployment): string {
  return JSON.stringify([image, digest, version, checksum, kernelArguments, packages]);
}
