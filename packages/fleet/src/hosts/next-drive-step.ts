// The next step for the drive of one host: attach, detach, read it, or wait. This does not decide about power, only
// whether the host may be powered on.
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
  isNamedLikeOurs,
  isOurs,
  isReportedAs,
  computeMedium,
  shorten,
  verified,
} from './memory.ts';

export interface DriveQuestion {
  readonly facts: HostFacts;
  readonly node: IronicNode;
  readonly image: ObservedDataImage;
  readonly options: StepOptions;
  /** The desired ISO in the drive; null: none. */
  readonly wanted: string | null;
  /** The host is off, or the change does not need it off. */
  readonly mayChange: boolean;
  /** The host would be powered on next: last chance to check that the ISO is still there. */
  readonly isBooting: boolean;
}

export type DriveStep =
  | Extract<HostStep, { type: 'wait' | 'look' | 'attach' | 'detach' | 'remember drive' }>
  /** The drive does not prevent powering on the host. */
  | { readonly type: 'ready' };

const ready: DriveStep = { type: 'ready' };
const rebootNeeded: DriveStep = { type: 'wait', why: 'reboot needed', ms: null };
const remember = (memory: DriveMemory): DriveStep => ({ type: 'remember drive', memory });

export function nextDriveStep(question: DriveQuestion): DriveStep {
  const { node, image, options } = question;
  const medium = computeMedium(image);
  if (medium === 'none' && question.wanted === null) return ready;
  // While Ironic is busy, what it reports about the drive is not final.
  if (isBusy(node)) return { type: 'wait', why: 'busy', ms: options.pollMs };
  const memory = image.memory ?? { ...emptyDrive(image.attachedUrl ?? ''), failures: image.errorCount };
  // What another operator attached, or an unreadable memory refers to, belongs to the current node.
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

/** The drive is empty as far as we know, but must not be. */
function beginAttach(question: DriveQuestion, before: DriveMemory): DriveStep {
  const { facts, node, wanted } = question;
  if (wanted === null || !canAttach(facts)) return ready;
  if (!question.mayChange) return rebootNeeded;
  // Failures of the old URL do not count for a new one.
  const memory =
    before.url === wanted ? before : { ...emptyDrive(wanted), reported: before.reported, node: before.node };
  if (memory.notBefore > facts.now) return delayed(question, memory);
  return withDrive(question, (drive) => {
    if (!drive.inserted) return { type: 'attach', url: wanted, remember: attachBegins(memory, node, facts.now) };
    // It is ours: ejected and inserted again, misreported by the BMC, or late. A medium without a name could be any.
    if (drive.image !== '' && isOurs(drive, before)) {
      return { type: 'detach', remember: detachBegins(before, facts.now) };
    }
    return foreign(question, memory, 'expected no medium', drive);
  });
}

export const canAttach = ({ host, dataImage }: HostFacts): boolean =>
  host.bmc.ok && host.bmc.nonBootableISOImage && (dataImage?.refusal ?? null) === null;

/**
 * Ironic has accepted the attach. It is complete once Ironic has finished without an error and the drive, empty before,
 * contains what can be ours. Another client may have been faster: its medium stays, and once ours can no longer arrive,
 * that is reported.
 */
function followAttach(question: DriveQuestion, memory: DriveMemory): DriveStep {
  const { facts, node } = question;
  const failed = (why: string): DriveStep => remember(attachFailed(memory, attachMessage(memory, why), facts.now));
  if (node.lastError !== null) return failed(node.lastError);
  return withDrive(question, (drive) => {
    if (isOurs(drive, memory) || isNamedLikeOurs(drive, memory)) {
      return remember(verified(memory, drive.image, facts.now));
    }
    if (!isSettled(question, memory)) return soon(question);
    return drive.inserted
      ? foreign(question, memory, 'expected the ISO that Ironic was asked to attach', drive)
      : failed('Ironic accepted the request, but the drive is still empty');
  });
}

/** We were interrupted: Ironic may or may not have received the call. */
function repeatAttach(question: DriveQuestion, memory: DriveMemory): DriveStep {
  const { facts, node, options, mayChange, wanted } = question;
  // The call may still be in flight.
  if (!isSettled(question, memory)) return soon(question);
  return withDrive(question, (drive) => {
    // The medium may be incomplete.
    if (isOurs(drive, memory)) return remember(detachBegins(memory, facts.now));
    // Remembered, because once this attach is over, a part of the URL no longer counts as its name.
    if (isNamedLikeOurs(drive, memory)) return remember(detachBegins({ ...memory, reported: drive.image }, facts.now));
    if (drive.inserted) return foreign(question, memory, 'expected no medium', drive);
    if (wanted === memory.url && mayChange && canAttach(facts)) {
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
  if (drive !== null && !isReportedAs(drive, memory)) {
    return foreign(question, memory, 'expected the ISO that Slipway attached', drive);
  }
  if (wanted !== memory.url) {
    if (!mayChange) return rebootNeeded;
    return withDrive(question, () => ({ type: 'detach', remember: detachBegins(memory, now) }));
  }
  // It was verified before: a BMC that does not answer now must not keep the host from booting.
  return isBooting && drive === null && facts.driveProblem === null ? { type: 'look' } : ready;
}

/** Another operator reports an attached image. Which one is unknown, so eject it before attaching ours. */
function takeOver(question: DriveQuestion, memory: DriveMemory): DriveStep {
  const { facts, options, mayChange } = question;
  if (!mayChange) return rebootNeeded;
  return withDrive(question, (drive) => {
    if (isOurs(drive, memory)) return { type: 'detach', remember: detachBegins(memory, facts.now) };
    return drive.inserted
      ? foreign(question, memory, 'expected the ISO that another operator attached', drive)
      : remember(emptied({ ...memory, failures: 0 }, facts.now, options));
  });
}

/** The drive must be emptied; Ironic has not accepted the detach. */
function repeatDetach(question: DriveQuestion, memory: DriveMemory): DriveStep {
  const { facts, options, mayChange } = question;
  if (memory.notBefore > facts.now) return delayed(question, memory);
  // After an attach, call it even if the drive is empty: the attach may be late, and the detach then follows it.
  const isAfterAttach = memory.reported === '';
  const mustCall = (drive: Drive): boolean => isOurs(drive, memory) || (isAfterAttach && !drive.inserted);
  if (!mayChange && (facts.drive === null || mustCall(facts.drive))) return rebootNeeded;
  return withDrive(question, (drive) => {
    if (mustCall(drive)) return { type: 'detach', remember: detachBegins(memory, facts.now) };
    // A call would eject another client's medium, so wait for our late attach instead.
    return isAfterAttach && !isSettled(question, memory)
      ? soon(question)
      : remember(emptied(memory, facts.now, options));
  });
}

function followDetach(question: DriveQuestion, memory: DriveMemory): DriveStep {
  const { facts, node, options } = question;
  return withDrive(question, (drive) => {
    if (!isOurs(drive, memory)) return remember(emptied(memory, facts.now, options));
    // Some BMCs still show a medium for a moment after it is ejected.
    if (node.lastError === null && !isSettled(question, memory)) return soon(question);
    const why = node.lastError ?? 'Ironic accepted it, but the ISO is still in the drive';
    return remember(detachFailed(memory, detachMessage(memory, why), facts.now, options));
  });
}

/** Leave it untouched, and retry later. */
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

/** It has failed as often as the user allows: the host boots without it, and the next try is at a later power-off. */
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

/** Only the name is shortened, so that the remediation after it is never cut off. */
const MAX_IMAGE_NAME_LENGTH = 300;

const foreignMessage = ({ host }: HostFacts, what: string, { image }: Drive): string =>
  `the drive of BareMetalHost ${host.namespace}/${host.name}: ${what}, found ${shorten(image, MAX_IMAGE_NAME_LENGTH) || 'an unnamed medium'}, which Slipway did not attach and does not touch. Eject it at the BMC, or delete the DataImage [SLW_DATA_IMAGE_FOREIGN_MEDIUM]`;

const goneMessage = ({ url }: DriveMemory): string =>
  `${url} is no longer in the drive: the operating system or a user at the BMC ejected it. Slipway attaches it again at the next power-off`;
