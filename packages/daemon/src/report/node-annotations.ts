// The annotations in which a node reports its state, and the events for their changes.
import { truncateBytes } from '@slipway/base/text';
import { nodeAnnotations, reportedConfigAnnotation } from '@slipway/api/names';
import type { EventInput } from '@slipway/kube';
import { maskSnapshot, type NodeSnapshot, type SnapshotProblem } from './snapshot.ts';

export type DaemonState = 'Working' | 'Done' | 'Degraded' | 'Rebooting' | 'Unreconcilable';
export type Annotations = Readonly<Record<string, string>>;

/** The annotations of a Node are limited to 256 KiB in total. */
const MAX_REASON_BYTES = 8192;

export function computeDaemonState({ phase, problem }: NodeSnapshot): DaemonState {
  if (problem !== null && problem.undo !== 'under way') return problem.state;
  // The machine has its config. Uncordoning is up to the controller.
  if (['idle', 'uncordoning', 'resumed'].includes(phase)) return 'Done';
  return phase === 'rebooting' ? 'Rebooting' : 'Working';
}

export function buildAnnotations(snapshot: NodeSnapshot): Annotations {
  const { currentConfig, desiredConfig, desiredDrain, problem } = maskSnapshot(snapshot);
  return {
    ...(currentConfig !== null && { [nodeAnnotations.currentConfig]: currentConfig }),
    ...(desiredDrain !== null && { [nodeAnnotations.desiredDrain]: desiredDrain }),
    ...(desiredConfig !== null && { [reportedConfigAnnotation]: desiredConfig }),
    [nodeAnnotations.state]: computeDaemonState(snapshot),
    [nodeAnnotations.reason]: problem === null ? '' : formatReason(problem),
  };
}

/** The annotations of `wanted` that are missing or have another value. */
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

/** The events for a change of the node's annotations. */
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
      return [buildNodeEvent('Reboot', `The machine is rebooting from ${config}`)];
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
  if (verb === 'drain') return [buildNodeEvent('Drain', `The node requests a drain for the update to ${config}`)];
  if (verb === 'uncordon') return [buildNodeEvent('Uncordon', `The node runs ${config} and requests to be uncordoned`)];
  return [];
}
