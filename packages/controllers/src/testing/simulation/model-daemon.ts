// A model of a node's daemon in pure steps, without a disk: what it reports on its Node and what it does next, as in
// the real loop. It omits targets that the cluster has lost: nothing here restores a cluster.
// e2e/model-daemon.e2e.test.ts compares it with the real daemon.
import { nodeAnnotations } from '@slipway/api';

export type Annotations = Readonly<Record<string, string>>;

/** The local state of a machine. */
export interface Machine {
  /** The config that it was provisioned with. */
  readonly born: string;
  /** The config on its disk; null: its daemon has not checked yet. */
  readonly disk: string | null;
  /** The target that it last failed to reach. */
  readonly failed: string | null;
  /** The target that it is prepared for; null: none. */
  readonly prepared: string | null;
  /** A user changed a file of the config on its disk. */
  readonly hasDrifted: boolean;
}

/** What a change from one config to another takes, and how it ends. */
export interface Change {
  /** Nothing differs for the machine: only annotations change. */
  readonly isEmpty: boolean;
  readonly needsDrain: boolean;
  readonly reboots: boolean;
  readonly end: 'works' | 'fails' | 'is refused';
}

export type ChangeOf = (from: string, to: string) => Change;

/** What the machine does until its daemon continues. */
export type Next =
  | { readonly type: 'wait' }
  /** Reads, plans and downloads; then `prepared`. */
  | { readonly type: 'prepare'; readonly target: string }
  /** Changes the machine; then `applied`. */
  | { readonly type: 'apply'; readonly target: string };

export interface Step {
  readonly machine: Machine;
  /** The annotations that the daemon writes. */
  readonly says: Annotations;
  readonly next: Next;
}

const { currentConfig, desiredConfig, desiredDrain, lastAppliedDrain, state, reason } = nodeAnnotations;
const drainFor = (config: string): string => `drain-${config}`;
const uncordonFor = (config: string): string => `uncordon-${config}`;
const WAIT: Next = { type: 'wait' };

export const provisionMachine = (config: string): Machine => ({
  born: config,
  disk: null,
  failed: null,
  prepared: null,
  hasDrifted: false,
});

/** One check of the Node. */
export function checkNode(machine: Machine, node: Annotations): Step {
  if (machine.disk === null) return checkNode({ ...machine, disk: machine.born }, node);
  const target = node[desiredConfig] ?? machine.disk;
  if (target === machine.disk) return settle({ ...machine, failed: null }, machine.disk, node);
  if (target === machine.failed) return settle(machine, machine.disk, node);
  const says = machine.prepared === target ? {} : buildStateAnnotations(machine.disk, 'Working');
  return { machine, says, next: { type: 'prepare', target } };
}

/** The machine has its target or its previous config: it is uncordoned, if it was drained. */
function settle(machine: Machine, disk: string, node: Annotations): Step {
  const away = [node[desiredDrain], node[lastAppliedDrain]].some((drain) => drain?.startsWith('drain-') === true);
  const isAsked = node[desiredDrain] === uncordonFor(disk) && node[lastAppliedDrain] !== node[desiredDrain];
  const pods = away || isAsked ? { [desiredDrain]: uncordonFor(disk) } : {};
  return { machine: { ...machine, prepared: null }, says: { ...settledState(machine, disk), ...pods }, next: WAIT };
}

function settledState({ failed, hasDrifted }: Machine, disk: string): Annotations {
  if (failed !== null) return buildStateAnnotations(disk, 'Degraded', failure(failed));
  return hasDrifted ? buildStateAnnotations(disk, 'Degraded', drift(disk)) : buildStateAnnotations(disk, 'Done');
}

/** Ready for the change; `node` is what the Node showed when the daemon started to prepare. */
export function prepared(machine: Machine, target: string, node: Annotations, { end, ...change }: Change): Step {
  const disk = machine.disk ?? machine.born;
  const ready = { ...machine, prepared: target };
  if (end === 'is refused') {
    const why = `${target} cannot be applied [SLW_UPDATE_IRRECONCILABLE]`;
    return { machine: ready, says: buildStateAnnotations(disk, 'Unreconcilable', why), next: WAIT };
  }
  if (machine.hasDrifted) {
    return { machine: ready, says: buildStateAnnotations(disk, 'Degraded', drift(disk)), next: WAIT };
  }
  if (change.isEmpty) return settle({ ...ready, disk: target, failed: null }, target, node);
  if (change.needsDrain && node[lastAppliedDrain] !== drainFor(target)) {
    return {
      machine: ready,
      says: { ...buildStateAnnotations(disk, 'Working'), [desiredDrain]: drainFor(target) },
      next: WAIT,
    };
  }
  return { machine: ready, says: {}, next: { type: 'apply', target } };
}

/** The change is done or undone: next is another check, after a boot if `reboots`. */
export function applied(
  machine: Machine,
  target: string,
  { end, reboots }: Change,
): Pick<Step, 'machine' | 'says'> & { reboots: boolean } {
  if (end !== 'works') {
    const says = { [state]: 'Working', [reason]: `${target} is undone [SLW_DAEMON_STEP]` };
    return { machine: { ...machine, failed: target, prepared: null }, says, reboots: false };
  }
  const changed = { ...machine, disk: target, failed: null };
  // The machine has the new config after the boot, and reports it only then.
  return { machine: changed, says: reboots ? { [state]: 'Rebooting', [reason]: '' } : {}, reboots };
}

const failure = (target: string): string => `${target} could not be applied, and was undone [SLW_DAEMON_STEP]`;

const drift = (disk: string): string => `1 item on this machine differs from ${disk} [SLW_DAEMON_DRIFT]`;

const buildStateAnnotations = (current: string, is: string, why = ''): Annotations => ({
  [currentConfig]: current,
  [state]: is,
  [reason]: why,
});
