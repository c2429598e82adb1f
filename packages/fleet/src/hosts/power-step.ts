// Switching a host on and off. Only ever on and off, never Ironic's own reboot: either can be asked for twice without harm.
import { asked, backingOff, hostCallFailed, progressOf } from './host-memory.ts';
import type { HostFacts, HostStep, IronicNode, PowerTarget, StepOptions } from './host-step.ts';
import { modeOfAll } from './reboot-requests.ts';

/** Where power-off is disabled, status says that it was asked for in vain. */
export const isOffAskedFor = ({ host }: HostFacts): boolean => !host.online || host.reboots.length > 0;

const busy = ({ pollMs }: StepOptions): HostStep => ({ type: 'wait', why: 'busy', ms: pollMs });

export function switchOn(facts: HostFacts, node: IronicNode, options: StepOptions): HostStep {
  return ask('power on', facts, node, options);
}

/** The operating system is asked first and has its time; then the power goes. */
export function switchOff(facts: HostFacts, node: IronicNode, options: StepOptions): HostStep {
  const { host, now } = facts;
  if (modeOfAll(host.reboots) === 'hard' || hasIgnoredSoft(facts, node, options)) {
    return ask('power off', facts, node, options);
  }
  if (host.memory?.doing === 'power off' && now < host.memory.since + options.softOffMs) {
    return ask('power off', facts, node, options);
  }
  if (isGivingTime(facts, options)) return busy(options);
  return ask('soft power off', facts, node, options);
}

/** A memory that is much older is of another time when the host was switched off. */
function hasIgnoredSoft({ host, now }: HostFacts, { lastError }: IronicNode, { softOffMs }: StepOptions): boolean {
  if (host.memory?.doing !== 'soft power off' || !host.memory.isSent) return false;
  const age = now - host.memory.since;
  return age < 2 * softOffMs && (age >= softOffMs || lastError !== null);
}

const isGivingTime = ({ host, now }: HostFacts, { softOffMs }: StepOptions): boolean =>
  host.memory?.doing === 'soft power off' && host.memory.isSent && now < host.memory.since + softOffMs;

function ask(target: PowerTarget, facts: HostFacts, node: IronicNode, options: StepOptions): HostStep {
  const { host, now } = facts;
  const waiting = backingOff(host.memory, now);
  if (waiting !== null) return waiting;
  const progress = progressOf(host.memory, target, node, { now, settleMs: options.settleMs });
  if (progress === 'lagging') return busy(options);
  if (progress === 'failed') {
    const why = node.lastError ?? '';
    return { type: 'remember host', memory: hostCallFailed(host.memory, `${target}: ${why}`, now, options) };
  }
  return { type: 'power', target, remember: asked(host.memory, target, now) };
}
