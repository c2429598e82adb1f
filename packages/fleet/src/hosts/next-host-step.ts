// The one thing to be done next for a host and its DataImage, from what is known of both.
import { mediumOf } from './drive-memory.ts';
import { stepBesideOperator } from './beside-operator.ts';
import { forgiven } from './host-memory.ts';
import type { DataImageSeen, HostFacts, HostStep, IronicNode, StepOptions } from './host-step.ts';
import { leavingStep } from './leaving-step.ts';
import { type DriveStep, isBusy, nextDriveStep } from './next-drive-step.ts';
import { isOffAskedFor, switchOff, switchOn } from './power-step.ts';
import { isOwn, isPlain } from './reboot-requests.ts';
import { registrationStep } from './registration-step.ts';

export function nextHostStep(facts: HostFacts, options: StepOptions): HostStep {
  const { host, dataImage } = facts;
  if (host.isPaused) return { type: 'wait', why: 'paused', ms: null };
  if (dataImage !== null && mayGo(dataImage, isOutOfReach(facts, options))) return { type: 'release image' };
  if (options.besideOperator) return stepBesideOperator(facts, options);
  return host.isForeign ? notOurs : stepOfOurs(facts, options);
}

const notOurs: HostStep = { type: 'wait', why: 'not ours', ms: null };

function stepOfOurs(facts: HostFacts, options: StepOptions): HostStep {
  const { host } = facts;
  if (host.isDeleting || host.isDetached) return leavingStep(facts, options);
  if (!host.externallyProvisioned) return notOurs;
  // Left behind by a time beside another operator.
  if (host.reboots.some(isOwn)) return { type: 'release hold' };
  return registrationStep(facts, options) ?? steadyStep(facts, options);
}

/** The DataImage of a host that is gone. */
export const stepWithoutHost = (dataImage: DataImageSeen): HostStep =>
  mayGo(dataImage, true) ? { type: 'release image' } : { type: 'wait', why: 'at rest', ms: null };

/** Its deletion waits for nothing: our ISO is not in the drive, or the drive is out of reach for good. */
const mayGo = (image: DataImageSeen, isUnreachable: boolean): boolean =>
  image.isDeleting && image.hasFinalizer && (isUnreachable || mediumOf(image) === 'none');

/**
 * Not before its node is gone, or what we asked of somebody else's node must have ended: an attach that is under way would
 * end in a drive that nobody remembers.
 */
function isOutOfReach({ host, node, dataImage, now }: HostFacts, { settleMs }: StepOptions): boolean {
  if (!host.isDetached || node === null) return host.isDetached;
  return node.sentDigest === null && node.reservation === null && now >= (dataImage?.memory?.since ?? 0) + settleMs;
}

function steadyStep(facts: HostFacts, options: StepOptions): HostStep {
  const { node } = facts;
  if (node === null || isBusy(node)) return { type: 'wait', why: 'busy', ms: options.pollMs };
  if (node.powerState === 'power on') return whileOn(facts, node, options);
  if (node.powerState === 'power off') return whileOff(facts, node, options);
  return { type: 'wait', why: 'power unknown', ms: options.settleMs };
}

function whileOn(facts: HostFacts, node: IronicNode, options: StepOptions): HostStep {
  if (isOffAskedFor(facts) && !facts.host.isPowerOffDisabled) return switchOff(facts, node, options);
  return withoutFailures(facts) ?? notReady(driveStep(facts, node, options, false)) ?? atRest;
}

function whileOff(facts: HostFacts, node: IronicNode, options: StepOptions): HostStep {
  const { host } = facts;
  // It may be on already, and nobody may change the drive of a running host or take its request for served.
  if (mayLag(facts, options)) return { type: 'wait', why: 'busy', ms: options.pollMs };
  if (host.reboots.some(isPlain)) return { type: 'clear reboot' };
  const isBooting = host.online && host.reboots.length === 0;
  const drive = notReady(driveStep(facts, node, options, true, isBooting));
  if (drive !== null) return drive;
  if (isBooting) return switchOn(facts, node, options);
  return withoutFailures(facts) ?? { type: 'wait', why: 'kept off', ms: null };
}

const atRest: HostStep = { type: 'wait', why: 'at rest', ms: null };

const mayLag = ({ host, now }: HostFacts, { settleMs }: StepOptions): boolean =>
  host.memory !== null && now < host.memory.onSince + settleMs;

function driveStep(
  facts: HostFacts,
  node: IronicNode,
  options: StepOptions,
  isOff: boolean,
  isBooting = false,
): DriveStep {
  const image = facts.dataImage;
  if (image === null) return { type: 'ready' };
  const wanted = image.isDeleting ? null : image.url;
  return nextDriveStep({ facts, node, image, options, wanted, mayChange: isOff || image.immediate, isBooting });
}

const notReady = (step: DriveStep): HostStep | null => (step.type === 'ready' ? null : step);

/** The power is as it shall be: what failed on the way is over. */
const withoutFailures = ({ host }: HostFacts): HostStep | null =>
  host.memory !== null && host.memory.failures > 0 ? { type: 'remember host', memory: forgiven(host.memory) } : null;
