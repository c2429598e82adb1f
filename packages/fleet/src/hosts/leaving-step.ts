// A host that is deleted, or detached by its annotation: its node goes out of Ironic, and the host itself stays as it is.
import { mediumOf } from './drive-memory.ts';
import { asked } from './host-memory.ts';
import type { HostFacts, HostStep, IronicNode, StepOptions } from './host-step.ts';
import { nextDriveStep } from './next-drive-step.ts';

export function leavingStep(facts: HostFacts, options: StepOptions): HostStep {
  const { host, node } = facts;
  if (node !== null && node.sentDigest !== null) return removeNode(facts, node, options);
  if (host.isDeleting && host.hasFinalizer && !host.isDeletionDelayed) return { type: 'remove host finalizer' };
  if (!host.isDetached) return { type: 'wait', why: 'at rest', ms: null };
  return { type: 'wait', why: 'detached', ms: facts.dataImage?.isDeleting === true ? options.settleMs : null };
}

function removeNode(facts: HostFacts, node: IronicNode, options: StepOptions): HostStep {
  const { host, now } = facts;
  if (node.reservation !== null) return { type: 'wait', why: 'busy', ms: options.pollMs };
  const eject = lastEject(facts, node, options);
  if (eject !== null) return eject;
  // Ironic deletes no active node that is not in maintenance.
  return node.maintenance
    ? { type: 'delete node' }
    : { type: 'set maintenance', maintenance: true, remember: asked(host.memory, 'delete', now) };
}

/**
 * Once the host is gone nobody can take our ISO out of its drive any more, so it goes out now, running or not. A BMC that
 * does not answer cannot keep the host from being deleted for ever. A host that is only detached keeps what it has.
 */
function lastEject(facts: HostFacts, node: IronicNode, options: StepOptions): HostStep | null {
  const { host, dataImage, now } = facts;
  if (dataImage === null || host.isDetached || node.provisionState !== 'active' || node.maintenance) return null;
  if (mediumOf(dataImage) === 'none' || now >= host.deletingSince + options.lastEjectMs) return null;
  const question = { facts, node, image: dataImage, options, wanted: null, mayChange: true, isBooting: false };
  const step = nextDriveStep(question);
  return step.type === 'ready' ? null : step;
}
