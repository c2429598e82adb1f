// What a node says of itself in the annotations of its Node, and the events for what changes in them.
import { truncateBytes } from '@slipway/base/text';
import { nodeAnnotations } from '@slipway/api/names';
import type { EventInput } from '@slipway/kube';
import type { NodeSnapshot, SnapshotProblem } from './snapshot.ts';

export type DaemonState = 'Working' | 'Done' | 'Degraded' | 'Rebooting' | 'Unreconcilable';
type Annotations = Readonly<Record<string, string>>;

/** All annotations of a Node together may have 256 KiB. */
const MAX_REASON_BYTES = 8192;

export function computeDaemonState({ phase, problem }: NodeSnapshot): DaemonState {
  if (problem !== null && problem.undo !== 'under way') return problem.state;
  // The machine has its config; that its pods may come back is for the controller.
  if (['idle', 'uncordoning', 'resumed'].includes(phase)) return 'Done';
  return phase === 'rebooting' ? 'Rebooting' : 'Working';
}

export function buildAnnotations(snapshot: NodeSnapshot): Annotations {
  const { currentConfig, currentImage = null, desiredDrain, problem } = snapshot;
  return {
    ...(currentConfig !== null && { [nodeAnnotations.currentConfig]: currentConfig }),
    ...(currentImage !== null && { [nodeAnnotations.currentImage]: currentImage }),
    ...(desiredDrain !== null && { [nodeAnnotations.desiredDrain]: desiredDrain }),
    [nodeAnnotations.state]: computeDaemonState(snapshot),
    [nodeAnnotations.reason]: problem === null ? '' : formatReason(problem),
  };
}

/** Those of `wanted` that are not there, or otherwise. */
export function diffAnnotations(there: Annotations, wanted: Annotations): Annotations {
  return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => there[name] !== value));
}

function formatReason({ code, message }: SnapshotProblem): string {
  const end = ` [${code}]`;
  return truncateBytes(message, MAX_REASON_BYTES - Buffer.byteLength(end)) + end;
}

const types = {
  ConfigDriftDetected: 'Warning',
  ConfigDriftMonitorStarted: 'Normal',
  ConfigDriftMonitorStopped: 'Normal',
  OnDiskStateValidationFailed: 'Warning',
  NodeDone: 'Normal',
  NodeDegraded: 'Warning',
  Drain: 'Normal',
  Uncordon: 'Normal',
  FailedToUncordon: 'Warning',
  Reboot: 'Normal',
  FailedToReconcile: 'Warning',
} as const;

export type NodeEvent = keyof typeof types;
export const buildNodeEvent = (reason: NodeEvent, message: string): EventInput => ({
  type: types[reason],
  reason,
  message,
});

/** What a change of a node's own annotations means for people. */
export function buildEvents(
  there: Readonly<Record<string, string>>,
  changed: Readonly<Record<string, string>>,
): EventInput[] {
  const now = { ...there, ...changed };
  return [
    ...buildStateEvents(
      changed[nodeAnnotations.state],
      now[nodeAnnotations.currentConfig] ?? '',
      now[nodeAnnotations.reason] ?? '',
    ),
    ...buildDrainEvents(changed[nodeAnnotations.desiredDrain]),
  ];
}

function buildStateEvents(state: string | undefined, config: string, reason: string): EventInput[] {
  switch (state) {
    case 'Done':
      return [buildNodeEvent('NodeDone', `The node runs ${config}`)];
    case 'Rebooting':
      return [buildNodeEvent('Reboot', `The machine reboots; before that it ran ${config}`)];
    case 'Degraded':
      return [buildNodeEvent('NodeDegraded', reason)];
    case 'Unreconcilable':
      return [buildNodeEvent('FailedToReconcile', reason)];
    default:
      return [];
  }
}

function buildDrainEvents(drain: string | undefined): EventInput[] {
  const [, verb, config] = /^(drain|uncordon)-(.+)$/.exec(drain ?? '') ?? [];
  if (verb === 'drain') return [buildNodeEvent('Drain', `The node asks to be drained, for the update to ${config}`)];
  if (verb === 'uncordon') return [buildNodeEvent('Uncordon', `The node runs ${config} and asks for its pods back`)];
  return [];
}
