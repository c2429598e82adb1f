// Beside an operator that powers the hosts itself: only the drive is ours, and the host is held off by our own reboot
// annotation while it is changed. The annotation makes that operator switch the host off, so it goes on only where the
// host is off already or somebody has asked for a reboot.
import type { ObservedDataImage, HostFacts, HostStep, IronicNode, PowerTarget, StepOptions } from './host-step.ts';
import {
  recordRequest,
  backingOff,
  forgiven,
  hostCallFailed,
  isOwn,
  isPlain,
  computeMedium,
  modeOfAll,
  checkProgress,
} from './memory.ts';
import { bootsAnyway, canAttach, type DriveStep, isBusy, nextDriveStep } from './next-drive-step.ts';

const provisioned = new Set(['provisioned', 'externally provisioned']);

function stepAlongsideOperator(facts: HostFacts, options: StepOptions): HostStep {
  const { host, node, dataImage } = facts;
  const holds = host.reboots.some(isOwn);
  const letGo = (otherwise: HostStep): HostStep => (holds ? { type: 'release hold' } : otherwise);
  if (host.isDetached)
    return letGo({ type: 'wait', why: 'detached', ms: dataImage?.isDeleting ? options.settleMs : null });
  if (dataImage === null) return letGo({ type: 'wait', why: 'at rest', ms: null });
  if (!provisioned.has(host.state) || host.isDeleting) return letGo({ type: 'wait', why: 'not provisioned', ms: null });
  if (node === null) return letGo({ type: 'wait', why: 'no node', ms: options.settleMs });
  return holds ? whileHeld(facts, node, dataImage, options) : untilHeld(facts, node, dataImage, options);
}

function untilHeld(facts: HostFacts, node: IronicNode, image: ObservedDataImage, options: StepOptions): HostStep {
  const { host } = facts;
  // Where power-off is disabled, that operator reboots the host without a time that it is off.
  const isWindow = isOff(facts, node) || (host.reboots.length > 0 && !host.isPowerOffDisabled);
  if (isWindow && !image.immediate && isPending(facts, image)) return { type: 'hold off' };
  // What is attached is looked at once more before that operator switches the host on.
  const how = { mayChange: image.immediate, isBooting: isWindow };
  return driveStepAlongsideOperator(facts, node, image, options, how) ?? { type: 'wait', why: 'at rest', ms: null };
}

function whileHeld(facts: HostFacts, node: IronicNode, image: ObservedDataImage, options: StepOptions): HostStep {
  // It is on, nobody else asks for a reboot, and it cannot have been off since: whoever asked has thought better of it.
  const isAlone = facts.host.reboots.every(isOwn) || facts.host.isPowerOffDisabled;
  const isCancelled = isAlone && facts.host.poweredOn && isOn(node);
  if (isCancelled) return { type: 'release hold' };
  // That operator may have been switching it on when the annotation went on.
  const hasSeen = facts.host.reboots.some((each) => isOwn(each) && facts.now >= each.since + options.settleMs);
  const isHeld = hasSeen && isOff(facts, node);
  const how = { mayChange: image.immediate || isHeld, isBooting: isHeld };
  const step = driveStepAlongsideOperator(facts, node, image, options, how);
  if (step === null) return { type: 'release hold' };
  return step.type === 'wait' && step.why === 'reboot needed'
    ? { type: 'wait', why: 'busy', ms: options.pollMs }
    : step;
}

function driveStepAlongsideOperator(
  facts: HostFacts,
  node: IronicNode,
  image: ObservedDataImage,
  options: StepOptions,
  how: { readonly mayChange: boolean; readonly isBooting: boolean },
): HostStep | null {
  const wanted = image.isDeleting ? null : image.url;
  const step = nextDriveStep({ facts, node, image, options, wanted, ...how });
  return step.type === 'ready' ? null : step;
}

/** Both must say so: either may lag, and to hold off a host that is on would reboot it. */
const isOff = ({ host }: HostFacts, node: IronicNode): boolean =>
  node.powerState === 'power off' && !isBusy(node) && !host.poweredOn;

const isOn = (node: IronicNode): boolean => node.powerState === 'power on' && !isBusy(node);

/** There is something to do that needs the host off. */
function isPending(facts: HostFacts, image: ObservedDataImage): boolean {
  if (bootsAnyway(image, facts.now)) return false;
  const medium = computeMedium(image);
  if (medium === 'none') return !image.isDeleting && canAttach(facts);
  return medium !== 'attached' || image.isDeleting || image.memory?.url !== image.url;
}

// A host that is deleted, or detached by its annotation: its node goes out of Ironic, and the host itself stays as it is.

function leavingStep(facts: HostFacts, options: StepOptions): HostStep {
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
    : { type: 'set maintenance', maintenance: true, remember: recordRequest(host.memory, 'delete', now) };
}

/**
 * Once the host is gone nobody can take our ISO out of its drive any more, so it goes out now, running or not. A BMC that
 * does not answer cannot keep the host from being deleted for ever. A host that is only detached keeps what it has.
 */
function lastEject(facts: HostFacts, node: IronicNode, options: StepOptions): HostStep | null {
  const { host, dataImage, now } = facts;
  if (dataImage === null || host.isDetached || node.provisionState !== 'active' || node.maintenance) return null;
  if (computeMedium(dataImage) === 'none' || now >= host.deletingSince + options.lastEjectMs) return null;
  const question = { facts, node, image: dataImage, options, wanted: null, mayChange: true, isBooting: false };
  const step = nextDriveStep(question);
  return step.type === 'ready' ? null : step;
}

// Switching a host on and off. Only ever on and off, never Ironic's own reboot: either can be asked for twice without harm.

/** Where power-off is disabled, status says that it was asked for in vain. */
export const isPowerOffRequested = ({ host }: HostFacts): boolean => !host.online || host.reboots.length > 0;

const busy = ({ pollMs }: StepOptions): HostStep => ({ type: 'wait', why: 'busy', ms: pollMs });

function switchOn(facts: HostFacts, node: IronicNode, options: StepOptions): HostStep {
  return requestPower('power on', facts, node, options);
}

/** The operating system is asked first and has its time; then the power goes. */
function switchOff(facts: HostFacts, node: IronicNode, options: StepOptions): HostStep {
  const { host, now } = facts;
  if (modeOfAll(host.reboots) === 'hard' || hasIgnoredSoft(facts, node, options)) {
    return requestPower('power off', facts, node, options);
  }
  if (host.memory?.doing === 'power off' && now < host.memory.since + options.softOffMs) {
    return requestPower('power off', facts, node, options);
  }
  if (isGivingTime(facts, options)) return busy(options);
  return requestPower('soft power off', facts, node, options);
}

/** A memory that is much older is of another time when the host was switched off. */
function hasIgnoredSoft({ host, now }: HostFacts, { lastError }: IronicNode, { softOffMs }: StepOptions): boolean {
  if (host.memory?.doing !== 'soft power off' || !host.memory.isSent) return false;
  const age = now - host.memory.since;
  return age < 2 * softOffMs && (age >= softOffMs || lastError !== null);
}

const isGivingTime = ({ host, now }: HostFacts, { softOffMs }: StepOptions): boolean =>
  host.memory?.doing === 'soft power off' && host.memory.isSent && now < host.memory.since + softOffMs;

function requestPower(target: PowerTarget, facts: HostFacts, node: IronicNode, options: StepOptions): HostStep {
  const { host, now } = facts;
  const waiting = backingOff(host.memory, now);
  if (waiting !== null) return waiting;
  const progress = checkProgress(host.memory, target, node, { now, settleMs: options.settleMs });
  if (progress === 'lagging') return busy(options);
  if (progress === 'failed') {
    const why = node.lastError ?? '';
    return { type: 'remember host', memory: hostCallFailed(host.memory, `${target}: ${why}`, now, options) };
  }
  return { type: 'power', target, remember: recordRequest(host.memory, target, now) };
}

// From a host that Ironic does not know to one that it has adopted.

/** Null: the node is active, knows the BMC as it is now, and may be worked with. */
function registrationStep(facts: HostFacts, options: StepOptions): HostStep | null {
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
  return waiting ?? { type: 'update node', remember: recordRequest(forgiven(host.memory), 'update', now) };
}

/** A deletion that was called off has left it behind. */
const endMaintenance = ({ host, now }: HostFacts): HostStep => ({
  type: 'set maintenance',
  maintenance: false,
  remember: recordRequest(host.memory, 'delete', now),
});

function provisionStep(facts: HostFacts, node: IronicNode, options: StepOptions): HostStep | null {
  switch (node.provisionState) {
    case 'active':
      return null;
    case 'enroll':
      return requestProvision('manage', facts, node, options);
    case 'manageable':
    case 'adopt failed':
      return requestProvision('adopt', facts, node, options);
    case 'verifying':
    case 'adopting':
      return { type: 'wait', why: 'busy', ms: options.pollMs };
    default:
      return { type: 'wait', why: 'node state', ms: options.settleMs };
  }
}

function requestProvision(
  target: 'manage' | 'adopt',
  facts: HostFacts,
  node: IronicNode,
  options: StepOptions,
): HostStep {
  const { host, now } = facts;
  const waiting = backingOff(host.memory, now);
  if (waiting !== null) return waiting;
  // The state changes with the yes, so an error after it is this one's.
  if (host.memory?.doing === target && host.memory.isSent && node.lastError !== null) {
    return { type: 'remember host', memory: hostCallFailed(host.memory, node.lastError, now, options) };
  }
  return checkProgress(host.memory, target, node, { now, settleMs: options.settleMs }) === 'lagging'
    ? { type: 'wait', why: 'busy', ms: options.pollMs }
    : { type: 'provision', target, remember: recordRequest(host.memory, target, now) };
}

// The one thing to be done next for a host and its DataImage, from what is known of both.

export function nextHostStep(facts: HostFacts, options: StepOptions): HostStep {
  const { host, dataImage } = facts;
  if (host.isPaused) return { type: 'wait', why: 'paused', ms: null };
  if (dataImage !== null && mayGo(dataImage, isOutOfReach(facts, options))) return { type: 'release image' };
  if (options.besideOperator) return stepAlongsideOperator(facts, options);
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
export const stepWithoutHost = (dataImage: ObservedDataImage): HostStep =>
  mayGo(dataImage, true) ? { type: 'release image' } : { type: 'wait', why: 'at rest', ms: null };

/** Its deletion waits for nothing: our ISO is not in the drive, or the drive is out of reach for good. */
const mayGo = (image: ObservedDataImage, isUnreachable: boolean): boolean =>
  image.isDeleting && image.hasFinalizer && (isUnreachable || computeMedium(image) === 'none');

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
  if (isPowerOffRequested(facts) && !facts.host.isPowerOffDisabled) return switchOff(facts, node, options);
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
