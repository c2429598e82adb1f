// What to do next about the drive of one host: attach, detach, look, or wait. The host's power is not decided here, only
// whether it may be switched on.
import type {
  ObservedDataImage,
  Drive,
  DriveMemory,
  HostFacts,
  HostStep,
  IronicNode,
  StepOptions,
} from './host-step.ts';
import {
  attachBegins,
  attachFailed,
  detachBegins,
  detachFailed,
  emptied,
  emptyDrive,
  countFailures,
  foreignFound,
  isOurs,
  computeMedium,
  shorten,
  verified,
} from './memory.ts';

export interface DriveQuestion {
  readonly facts: HostFacts;
  readonly node: IronicNode;
  readonly image: ObservedDataImage;
  readonly options: StepOptions;
  /** The ISO that shall be in the drive; null: none. */
  readonly wanted: string | null;
  /** The host is off, or the change need not wait for that. */
  readonly mayChange: boolean;
  /** The host would be switched on next: the last chance to see that the ISO is still there. */
  readonly isBooting: boolean;
}

export type DriveStep =
  | Extract<HostStep, { type: 'wait' | 'look' | 'claim image' | 'attach' | 'detach' | 'remember drive' }>
  /** As far as the drive goes, the host may be switched on. */
  | { readonly type: 'ready' };

const ready: DriveStep = { type: 'ready' };
const rebootNeeded: DriveStep = { type: 'wait', why: 'reboot needed', ms: null };
const remember = (memory: DriveMemory): DriveStep => ({ type: 'remember drive', memory });

export function nextDriveStep(question: DriveQuestion): DriveStep {
  const { node, image, options } = question;
  const medium = computeMedium(image);
  if (medium === 'none' && question.wanted === null) return ready;
  // Whatever Ironic says of the drive, the last word is not spoken.
  if (isBusy(node)) return { type: 'wait', why: 'busy', ms: options.pollMs };
  const memory = image.memory ?? { ...emptyDrive(image.attachedUrl ?? ''), failures: image.errorCount };
  // What another operator has attached, or a memory that cannot be read speaks of, was of the node as it is now.
  const isOfThisNode = memory.node === '' && medium !== 'none';
  return stepByMedium[medium](question, isOfThisNode ? { ...memory, node: node.uuid } : memory);
}

const stepByMedium: Readonly<
  Record<ReturnType<typeof computeMedium>, (question: DriveQuestion, memory: DriveMemory) => DriveStep>
> = {
  none: beginAttach,
  attaching: (question, memory) => (memory.isSent ? followAttach(question, memory) : repeatAttach(question, memory)),
  attached: keepAttached,
  unverified: takeOver,
  detaching: (question, memory) => (memory.isSent ? followDetach(question, memory) : repeatDetach(question, memory)),
};

export const isBusy = ({ reservation, targetPowerState }: IronicNode): boolean =>
  reservation !== null || targetPowerState !== null;

/** The drive is empty as far as we know, and shall not be. */
function beginAttach(question: DriveQuestion, before: DriveMemory): DriveStep {
  const { facts, node, image, wanted } = question;
  if (wanted === null || !canAttach(facts)) return ready;
  if (!question.mayChange) return rebootNeeded;
  // A new URL owes nothing to the failures of the old one.
  const memory =
    before.url === wanted ? before : { ...emptyDrive(wanted), reported: before.reported, node: before.node };
  if (memory.notBefore > facts.now) return delayed(question, memory);
  // Before the first call, so that nobody can delete the object while its ISO is in the drive.
  if (!image.hasFinalizer || !image.hasOwner) return { type: 'claim image' };
  return withDrive(question, (drive) => {
    if (!drive.inserted) return { type: 'attach', url: wanted, remember: attachBegins(memory, node, facts.now) };
    // Ours after all: somebody had it out, the BMC said so, or it was late. Without a name it could be anybody's.
    if (drive.image !== '' && isOurs(drive, before)) {
      return { type: 'detach', remember: detachBegins(before, facts.now) };
    }
    return foreign(question, memory, 'was expected empty', drive);
  });
}

export const canAttach = ({ host }: HostFacts): boolean => host.bmc.ok && host.bmc.nonBootableISOImage;

/**
 * Ironic has said yes. It is attached when Ironic is done, without an error, and the drive, seen empty before, shows what can
 * be ours. Somebody may have been faster than the call: what is theirs stays, and once ours cannot come any more, it is said.
 */
function followAttach(question: DriveQuestion, memory: DriveMemory): DriveStep {
  const { facts, node } = question;
  const failed = (why: string): DriveStep => remember(attachFailed(memory, attachMessage(memory, why), facts.now));
  if (node.lastError !== null) return failed(node.lastError);
  return withDrive(question, (drive) => {
    if (isOurs(drive, memory)) return remember(verified(memory, drive.image, facts.now));
    if (!isSettled(question, memory)) return soon(question);
    return drive.inserted
      ? foreign(question, memory, 'was expected to hold what Ironic was told to attach', drive)
      : failed('Ironic accepted it, but the drive stays empty');
  });
}

/** We were interrupted: Ironic may or may not have heard of it. */
function repeatAttach(question: DriveQuestion, memory: DriveMemory): DriveStep {
  const { facts, node, options, mayChange, wanted } = question;
  // The call may still be on its way.
  if (!isSettled(question, memory)) return soon(question);
  return withDrive(question, (drive) => {
    // What it is worth, nobody knows.
    if (isOurs(drive, memory)) return remember(detachBegins(memory, facts.now));
    if (drive.inserted) return foreign(question, memory, 'was expected empty', drive);
    if (wanted === memory.url && mayChange) {
      return { type: 'attach', url: wanted, remember: attachBegins(memory, node, facts.now) };
    }
    return remember(emptied(memory, facts.now, options));
  });
}

function keepAttached(question: DriveQuestion, memory: DriveMemory): DriveStep {
  const { facts, options, mayChange, isBooting, wanted } = question;
  const { drive, now } = facts;
  if (drive !== null && !drive.inserted) {
    return remember({ ...emptied(memory, now, options), message: goneMessage(memory) });
  }
  if (drive !== null && drive.image !== memory.reported) {
    return foreign(question, memory, 'was changed by somebody else', drive);
  }
  if (wanted !== memory.url) {
    if (!mayChange) return rebootNeeded;
    return withDrive(question, () => ({ type: 'detach', remember: detachBegins(memory, now) }));
  }
  // It was verified once: a BMC that does not answer now does not keep the host from booting.
  return isBooting && drive === null && facts.driveProblem === null ? { type: 'look' } : ready;
}

/** Another operator says that it is attached: nobody can tell which image that is, so it goes out before ours goes in. */
function takeOver(question: DriveQuestion, memory: DriveMemory): DriveStep {
  const { facts, options, mayChange } = question;
  if (!mayChange) return rebootNeeded;
  return withDrive(question, (drive) => {
    if (isOurs(drive, memory)) return { type: 'detach', remember: detachBegins(memory, facts.now) };
    return drive.inserted
      ? foreign(question, memory, 'was expected to hold what another operator has attached', drive)
      : remember(emptied({ ...memory, failures: 0 }, facts.now, options));
  });
}

/** The drive is to be emptied; Ironic has not said yes to it. */
function repeatDetach(question: DriveQuestion, memory: DriveMemory): DriveStep {
  const { facts, options, mayChange } = question;
  if (memory.notBefore > facts.now) return delayed(question, memory);
  // After an attach it is called even if the drive is empty: that one may be late, and this one comes after it.
  const isAfterAttach = memory.reported === '';
  const mustCall = (drive: Drive): boolean => isOurs(drive, memory) || (isAfterAttach && !drive.inserted);
  if (!mayChange && (facts.drive === null || mustCall(facts.drive))) return rebootNeeded;
  return withDrive(question, (drive) => {
    if (mustCall(drive)) return { type: 'detach', remember: detachBegins(memory, facts.now) };
    // A call would take out what is somebody else's, so a late attach of ours is waited for instead.
    return isAfterAttach && !isSettled(question, memory)
      ? soon(question)
      : remember(emptied(memory, facts.now, options));
  });
}

function followDetach(question: DriveQuestion, memory: DriveMemory): DriveStep {
  const { facts, node, options } = question;
  return withDrive(question, (drive) => {
    if (!isOurs(drive, memory)) return remember(emptied(memory, facts.now, options));
    // Some BMCs show a medium for a moment after it is out.
    if (node.lastError === null && !isSettled(question, memory)) return soon(question);
    const why = node.lastError ?? 'Ironic accepted it, but the ISO is still in the drive';
    return remember(detachFailed(memory, detachMessage(memory, why), facts.now, options));
  });
}

/** Not touched, and tried again later. */
function foreign({ facts, options }: DriveQuestion, memory: DriveMemory, what: string, drive: Drive): DriveStep {
  return remember(foreignFound(memory, foreignMessage(facts, what, drive), facts.now, options));
}

function withDrive({ facts, options }: DriveQuestion, then: (drive: Drive) => DriveStep): DriveStep {
  if (facts.drive !== null) return then(facts.drive);
  return facts.driveProblem === null
    ? { type: 'look' }
    : { type: 'wait', why: 'drive unreadable', ms: options.settleMs };
}

function delayed({ facts, image }: DriveQuestion, { notBefore }: DriveMemory): DriveStep {
  return bootsAnyway(image, facts.now) ? ready : { type: 'wait', why: 'drive backoff', ms: notBefore - facts.now };
}

/** It has failed as often as its owner allows: the host boots without it, and the next try is at a later power-off. */
export const bootsAnyway = (image: ObservedDataImage, now: number): boolean =>
  image.bootAnywayAfter !== null &&
  countFailures(image) >= image.bootAnywayAfter &&
  (image.memory?.notBefore ?? 0) > now &&
  !image.memory?.isSent;

const isSettled = ({ facts, options }: DriveQuestion, { since }: DriveMemory): boolean =>
  facts.now >= since + options.settleMs;

const soon = ({ options }: DriveQuestion): DriveStep => ({ type: 'wait', why: 'busy', ms: options.pollMs });

const attachMessage = ({ url }: DriveMemory, why: string): string =>
  `${url} was not attached: ${why} [SLW_DATA_IMAGE_ATTACH_FAILED]`;

const detachMessage = ({ url }: DriveMemory, why: string): string =>
  `${url} was not detached: ${why} [SLW_DATA_IMAGE_DETACH_FAILED]`;

/** The way out comes after the name, and must not be cut off with it. */
const MAX_IMAGE_NAME_LENGTH = 300;

const foreignMessage = ({ host }: HostFacts, what: string, { image }: Drive): string =>
  `the drive of BareMetalHost ${host.namespace}/${host.name} ${what}, found ${shorten(image, MAX_IMAGE_NAME_LENGTH) || 'a medium without a name'}, which Slipway has not attached and does not touch: eject it at the BMC, or delete the DataImage [SLW_DATA_IMAGE_FOREIGN_MEDIUM]`;

const goneMessage = ({ url }: DriveMemory): string =>
  `${url} is not in the drive any more: the operating system or somebody at the BMC has ejected it; it goes in again at the next power-off`;
