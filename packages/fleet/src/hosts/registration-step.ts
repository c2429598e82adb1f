// From a host that Ironic does not know to one that it has adopted.
import { asked, backingOff, forgiven, hostCallFailed, progressOf } from './host-memory.ts';
import type { HostFacts, HostStep, IronicNode, StepOptions } from './host-step.ts';

/** Null: the node is active, knows the BMC as it is now, and may be worked with. */
export function registrationStep(facts: HostFacts, options: StepOptions): HostStep | null {
  const { host, node, now } = facts;
  if (!host.bmc.ok) return { type: 'wait', why: 'bmc', ms: null };
  if (!host.hasFinalizer) return { type: 'add host finalizer' };
  if (node === null) return backingOff(host.memory, now) ?? { type: 'register' };
  return stepOfNode(facts, node, host.bmc.digest, options);
}

function stepOfNode(facts: HostFacts, node: IronicNode, digest: string, options: StepOptions): HostStep | null {
  const { host } = facts;
  if (node.reservation !== null) return { type: 'wait', why: 'busy', ms: options.pollMs };
  // Whether it shows already or not.
  if (host.memory?.doing === 'delete') return endMaintenance(facts);
  // Also in maintenance: a wrong password may be why Ironic has put it there.
  if (node.sentDigest !== digest) return updateStep(facts);
  // Ironic ends it by itself where the power failed; what somebody has set is theirs.
  if (node.maintenance) return { type: 'wait', why: 'maintenance', ms: options.settleMs };
  return provisionStep(facts, node, options);
}

/** Failures belong to what was sent before, unless Ironic has refused this. */
function updateStep({ host, now }: HostFacts): HostStep {
  const waiting = host.memory?.doing === 'update' ? backingOff(host.memory, now) : null;
  return waiting ?? { type: 'update node', remember: asked(forgiven(host.memory), 'update', now) };
}

/** A deletion that was called off has left it behind. */
const endMaintenance = ({ host, now }: HostFacts): HostStep => ({
  type: 'set maintenance',
  maintenance: false,
  remember: asked(host.memory, 'delete', now),
});

function provisionStep(facts: HostFacts, node: IronicNode, options: StepOptions): HostStep | null {
  switch (node.provisionState) {
    case 'active':
      return null;
    case 'enroll':
      return askFor('manage', facts, node, options);
    case 'manageable':
    case 'adopt failed':
      return askFor('adopt', facts, node, options);
    case 'verifying':
    case 'adopting':
      return { type: 'wait', why: 'busy', ms: options.pollMs };
    default:
      return { type: 'wait', why: 'node state', ms: options.settleMs };
  }
}

function askFor(target: 'manage' | 'adopt', facts: HostFacts, node: IronicNode, options: StepOptions): HostStep {
  const { host, now } = facts;
  const waiting = backingOff(host.memory, now);
  if (waiting !== null) return waiting;
  // The state changes with the yes, so an error after it is this one's.
  if (host.memory?.doing === target && host.memory.isSent && node.lastError !== null) {
    return { type: 'remember host', memory: hostCallFailed(host.memory, node.lastError, now, options) };
  }
  return progressOf(host.memory, target, node, { now, settleMs: options.settleMs }) === 'lagging'
    ? { type: 'wait', why: 'busy', ms: options.pollMs }
    : { type: 'provision', target, remember: asked(host.memory, target, now) };
}
