// Events about a Node, by the names that users know.
import { nodeAnnotations } from '@slipway/api/names';
import type { Happening } from '@slipway/kube';

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

export const nodeEvent = (reason: NodeEvent, message: string): Happening => ({ type: types[reason], reason, message });

/** What a change of a node's own annotations means for people. */
export function eventsOf(
  there: Readonly<Record<string, string>>,
  changed: Readonly<Record<string, string>>,
): Happening[] {
  const now = { ...there, ...changed };
  return [
    ...stateEvents(
      changed[nodeAnnotations.state],
      now[nodeAnnotations.currentConfig] ?? '',
      now[nodeAnnotations.reason] ?? '',
    ),
    ...drainEvents(changed[nodeAnnotations.desiredDrain]),
  ];
}

function stateEvents(state: string | undefined, config: string, reason: string): Happening[] {
  switch (state) {
    case 'Done':
      return [nodeEvent('NodeDone', `The node runs ${config}`)];
    case 'Rebooting':
      return [nodeEvent('Reboot', `The machine reboots; before that it ran ${config}`)];
    case 'Degraded':
      return [nodeEvent('NodeDegraded', reason)];
    case 'Unreconcilable':
      return [nodeEvent('FailedToReconcile', reason)];
    default:
      return [];
  }
}

function drainEvents(drain: string | undefined): Happening[] {
  const [, verb, config] = /^(drain|uncordon)-(.+)$/.exec(drain ?? '') ?? [];
  if (verb === 'drain') return [nodeEvent('Drain', `The node asks to be drained, for the update to ${config}`)];
  if (verb === 'uncordon') return [nodeEvent('Uncordon', `The node runs ${config} and asks for its pods back`)];
  return [];
}
