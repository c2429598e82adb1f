// Alongside an operator that controls the power of hosts, we only manage the drive, and keep the host off with our
// reboot annotation while we change it. The annotation makes that operator power off the host, so we set it only if the
// host is off already or a reboot was requested.
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
  // If power-off is disabled, that operator reboots the host without an off phase.
  const isWindow = isOff(facts, node) || (host.reboots.length > 0 && !host.isPowerOffDisabled);
  if (isWindow && !image.immediate && isPending(facts, image)) return { type: 'hold off' };
  // Check the attached ISO once more before that operator powers on the host.
  const how = { mayChange: image.immediate, isBooting: isWindow };
  return driveStepAlongsideOperator(facts, node, image, options, how) ?? { type: 'wait', why: 'at rest', ms: null };
}

function whileHeld(facts: HostFacts, node: IronicNode, image: ObservedDataImage, options: StepOptions): HostStep {
  // It is on, no other reboot request exists, and it cannot have been off since: the request was withdrawn.
  const isAlone = facts.host.reboots.every(isOwn) || facts.host.isPowerOffDisabled;
  const isCancelled = isAlone && facts.host.poweredOn && isOn(node);
  if (isCancelled) return { type: 'release hold' };
  // That operator may have been powering it on when we set the annotation.
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

/** Both must agree: either may lag, and holding off a running host would reboot it. */
const isOff = ({ host }: HostFacts, node: IronicNode): boolean =>
  node.powerState === 'power off' && !isBusy(node) && !host.poweredOn;

const isOn = (node: IronicNode): boolean => node.powerState === 'power on' && !isBusy(node);

/** A change is pending that needs the host off. */
function isPending(facts: HostFacts, image: ObservedDataImage): boolean {
  if (bootsAnyway(image, facts.now)) return false;
  const medium = computeMedium(image);
  if (medium === 'none') return !image.isDeleting && canAttach(facts);
  return medium !== 'attached' || image.isDeleting || image.memory?.url !== image.url;
}

// A host that is being deleted, or detached by its annotation: its node is removed from Ironic; the host is untouched.

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
  // Ironic does not delete an active node unless it is in maintenance.
  return node.maintenance
    ? { type: 'delete node' }
    : { type: 'set maintenance', maintenance: true, remember: recordRequest(host.memory, 'delete', now) };
}

/**
 * Once the host is gone, nothing can eject our ISO, so eject it now, running or not. A BMC that does not answer delays
 * the deletion only for a limited time. A host that is only detached keeps its medium.
 */
function lastEject(facts: HostFacts, node: IronicNode, options: StepOptions): HostStep | null {
  const { host, dataImage, now } = facts;
  if (dataImage === null || host.isDetached || node.provisionState !== 'active' || node.maintenance) return null;
  if (computeMedium(dataImage) === 'none' || now >= host.deletingSince + options.lastEjectMs) return null;
  const question = { facts, node, image: dataImage, options, wanted: null, mayChange: true, isBooting: false };
  const step = nextDriveStep(question);
  return step.type === 'ready' ? null : step;
}

// Powering a host on and off. Never Ironic's own reboot: on and off can be requested twice without harm.

/** If power-off is disabled, status reports the unmet request. */
export const isPowerOffRequested = ({ host }: HostFacts): boolean => !host.online || host.reboots.length > 0;

const busy = ({ pollMs }: StepOptions): HostStep => ({ type: 'wait', why: 'busy', ms: pollMs });

function switchOn(facts: HostFacts, node: IronicNode, options: StepOptions): HostStep {
  return requestPower('power on', facts, node, options);
}

/** Request a shutdown from the operating system first; after a timeout, cut the power. */
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

/** A much older memory belongs to an earlier power-off. */
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

/** Null: the node is active, has the current BMC data, and is ready for use. */
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
  // Whether or not the maintenance is visible yet.
  if (host.memory?.doing === 'delete') return endMaintenance(facts);
  // Even in maintenance: a wrong password may be the reason that Ironic set it.
  if (node.sentDigest !== digest) return updateStep(facts);
  // Ironic ends it automatically after a power failure; maintenance that a user set is the user's to end.
  if (node.maintenance) return { type: 'wait', why: 'maintenance', ms: options.settleMs };
  return provisionStep(facts, node, options);
}

/** Failures belong to the previous data, unless Ironic refused this update. */
function updateStep({ host, now }: HostFacts): HostStep {
  const waiting = host.memory?.doing === 'update' ? backingOff(host.memory, now) : null;
  return waiting ?? { type: 'update node', remember: recordRequest(forgiven(host.memory), 'update', now) };
}

/** A cancelled deletion has left it behind. */
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
  // The state changes when Ironic accepts the call, so a later error belongs to this call.
  if (host.memory?.doing === target && host.memory.isSent && node.lastError !== null) {
    return { type: 'remember host', memory: hostCallFailed(host.memory, node.lastError, now, options) };
  }
  return checkProgress(host.memory, target, node, { now, settleMs: options.settleMs }) === 'lagging'
    ? { type: 'wait', why: 'busy', ms: options.pollMs }
    : { type: 'provision', target, remember: recordRequest(host.memory, target, now) };
}

// The one next step for a host and its DataImage.

export function nextHostStep(facts: HostFacts, options: StepOptions): HostStep {
  const { host, dataImage } = facts;
  if (host.isPaused) return { type: 'wait', why: 'paused', ms: null };
  if (dataImage !== null && mayGo(dataImage, isOutOfReach(facts, options))) return { type: 'release image' };
  if (dataImage !== null && mustClaim(dataImage)) return { type: 'claim image' };
  if (options.besideOperator) return stepAlongsideOperator(facts, options);
  return host.isForeign ? notOurs : stepOfOurs(facts, options);
}

const notOurs: HostStep = { type: 'wait', why: 'not ours', ms: null };

function stepOfOurs(facts: HostFacts, options: StepOptions): HostStep {
  const { host } = facts;
  if (host.isDeleting || host.isDetached) return leavingStep(facts, options);
  if (!host.externallyProvisioned) return notOurs;
  // Left over from running alongside another operator.
  if (host.reboots.some(isOwn)) return { type: 'release hold' };
  return registrationStep(facts, options) ?? steadyStep(facts, options);
}

/**
 * As soon as both exist, even if another operator manages the host: a DataImage that outlives its host would be
 * attached to the next host of that name. Its finalizer is set before anything is attached, so that it cannot be deleted
 * while its ISO is in the drive.
 */
export const mustClaim = ({ isDeleting, hasFinalizer, hasOwner }: ObservedDataImage): boolean =>
  !isDeleting && !(hasFinalizer && hasOwner);

/** The DataImage of a host that no longer exists. */
export const stepWithoutHost = (dataImage: ObservedDataImage): HostStep =>
  mayGo(dataImage, true) ? { type: 'release image' } : { type: 'wait', why: 'at rest', ms: null };

/** Its deletion waits for nothing: our ISO is not in the drive, or the drive is permanently out of reach. */
const mayGo = (image: ObservedDataImage, isUnreachable: boolean): boolean =>
  image.isDeleting && image.hasFinalizer && (isUnreachable || computeMedium(image) === 'none');

/**
 * Only after its node is gone, or our request to another operator's node has ended: an attach in progress would leave
 * an ISO that nothing tracks.
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
  // It may be on already. Do not change the drive of a running host, or treat its reboot request as served.
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

/** The power state is as desired: reset the failures. */
const withoutFailures = ({ host }: HostFacts): HostStep | null =>
  host.memory !== null && host.memory.failures > 0 ? { type: 'remember host', memory: forgiven(host.memory) } : null;
