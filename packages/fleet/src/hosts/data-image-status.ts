// The status of a DataImage: computed from the facts and the next step, never used as storage.
import type { DataImage } from '@slipway/api';
import { formatProblem } from '../problems.ts';
import type { ObservedDataImage, HostFacts, ObservedHost, HostStep, StepOptions, Why } from './host-step.ts';
import { BOOT_ANYWAY_ANNOTATION, countFailures, computeMedium, isReportedAs } from './memory.ts';
import { bootsAnyway, canAttach } from './next-drive-step.ts';

type Status = NonNullable<DataImage['status']>;

export interface Finding {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export interface DataImageFindings {
  readonly attachedImage: Status['attachedImage'];
  readonly error: Status['error'];
  /** For the condition Attached. */
  readonly attached: Finding;
}

export function dataImageStatus(
  facts: HostFacts,
  image: ObservedDataImage,
  step: HostStep,
  { besideOperator }: Pick<StepOptions, 'besideOperator'>,
): DataImageFindings {
  const doubt = computeMedium(image) === 'attached' ? findDoubt(facts, image, besideOperator) : null;
  const attached = doubt ?? computeFinding(facts, image, step);
  return {
    attachedImage: doubt === null ? computeAttachedImage(image) : undefined,
    error: computeError(image) ?? unreadableError(step, attached),
    attached,
  };
}

function computeError(image: ObservedDataImage): Status['error'] {
  const count = countFailures(image);
  return count === 0 ? undefined : { count, message: image.memory?.message ?? '' };
}

/** Nothing was tried, but the drive is asked again all the time: one failure, as long as it lasts. */
const unreadableError = (step: HostStep, { message }: Finding): Status['error'] =>
  step.type === 'wait' && step.why === 'drive unreadable' ? { count: 1, message } : undefined;

/**
 * While Slipway does not or cannot ask Ironic. Null: the status stays unchanged, because it may still be right and
 * nothing waits.
 */
export function statusOutOfReach(
  image: ObservedDataImage,
  host: Pick<ObservedHost, 'namespace' | 'name'>,
  why: string,
): DataImageFindings | null {
  const medium = computeMedium(image);
  const isAttached = medium === 'attached';
  if (medium === 'unverified' || (isAttached && !image.isDeleting && image.memory?.url === image.url)) return null;
  const status = isAttached && image.isDeleting ? 'True' : 'False';
  return {
    attachedImage: computeAttachedImage(image),
    error: computeError(image),
    attached: { status, reason: 'HostNotReady', message: `${hostName(host)} ${why}` },
  };
}

export const statusWithoutHost = (
  image: ObservedDataImage,
  { namespace, name }: Pick<ObservedHost, 'namespace' | 'name'>,
) =>
  ({
    attachedImage: undefined,
    error: undefined,
    attached: no('NoHost', `BareMetalHost ${namespace}/${name} does not exist: ${image.url} is attached once it does`),
  }) satisfies DataImageFindings;

function computeAttachedImage(image: ObservedDataImage): Status['attachedImage'] {
  const medium = computeMedium(image);
  if (medium === 'attached') return { url: image.memory?.url ?? '' };
  return medium === 'unverified' && image.attachedUrl !== null ? { url: image.attachedUrl } : undefined;
}

/**
 * A verified ISO may be gone: adopting a host again empties its drive, and another client may change the medium. Until
 * this is clear, attached is not reported. Null: there is no doubt.
 */
function findDoubt(facts: HostFacts, image: ObservedDataImage, besideOperator: boolean): Finding | null {
  const isOurs = !besideOperator && !facts.host.isForeign;
  const why = (isOurs ? findAdoptionDoubt(facts) : null) ?? contradiction(facts, image);
  if (why === null) return null;
  return { status: 'Unknown', reason: 'NotVerified', message: `${image.memory?.url} was in the drive, but ${why}` };
}

function findAdoptionDoubt(facts: HostFacts): string | null {
  const { host, node, drive, driveProblem } = facts;
  const isRegistering = !host.isDetached && !host.isDeleting && node?.provisionState !== 'active';
  if (isRegistering) {
    return 'Ironic must adopt the host again, which ejects the medium. Slipway checks the drive after that';
  }
  return isFreshlyAdopted(facts) && drive === null
    ? `Ironic has adopted the host again, and the drive cannot be read: ${driveProblem ?? 'it has not been checked yet'}`
    : null;
}

/** Adopting a node empties its drive, and no request followed: the attached ISO may be gone. */
export const isFreshlyAdopted = ({ host, node }: HostFacts): boolean =>
  host.memory?.doing === 'adopt' && node?.provisionState === 'active';

function contradiction({ drive }: HostFacts, { memory }: ObservedDataImage): string | null {
  if (drive === null) return null;
  if (!drive.inserted) return 'the drive is empty now';
  return memory !== null && isReportedAs(drive, memory) ? null : `now ${drive.image || 'an unnamed medium'} is`;
}

function computeFinding(facts: HostFacts, image: ObservedDataImage, step: HostStep): Finding {
  switch (computeMedium(image)) {
    case 'attached':
      // Written before the step, and read while the drive is already empty.
      return step.type === 'detach' ? detaching(image) : findingOfAttached(facts, image);
    case 'unverified':
      return {
        status: 'Unknown',
        reason: 'NotVerified',
        message: `another operator reports that ${image.attachedUrl} is attached; Slipway ejects it and attaches ${image.url} ${atNextPowerOff(facts.host)}`,
      };
    case 'detaching':
      return findingWhileChanging(facts, image, step, detaching(image));
    case 'attaching':
      return findingWhileChanging(
        facts,
        image,
        step,
        no('Attaching', `${image.memory?.url} is being attached; waiting for Ironic to finish`),
      );
    case 'none':
      return findingOfEmpty(facts, image, step);
  }
}

const detaching = ({ memory }: ObservedDataImage): Finding =>
  no('Detaching', `${memory?.url} is being ejected from the drive`);

function findingOfAttached({ host }: HostFacts, image: ObservedDataImage): Finding {
  const url = image.memory?.url ?? '';
  if (image.isDeleting) {
    return {
      status: 'True',
      reason: 'DetachWaitsForReboot',
      message: `${url} is still in the drive; Slipway ejects it and deletes this object ${atNextPowerOff(host)}`,
    };
  }
  return url === image.url
    ? { status: 'True', reason: 'Attached', message: `${url} is in the drive` }
    : no('ChangeWaitsForReboot', `${url} is in the drive; ${image.url} replaces it ${atNextPowerOff(host)}`);
}

function findingOfEmpty(facts: HostFacts, image: ObservedDataImage, step: HostStep): Finding {
  if (image.refusal !== null) return no('AddressRefused', refusedMessage(facts, image.refusal));
  if (!canAttach(facts)) return no('Unsupported', unsupportedMessage(facts));
  return findingWhileChanging(facts, image, step, no('Pending', `${image.url} is about to be attached`));
}

function findingWhileChanging(facts: HostFacts, image: ObservedDataImage, step: HostStep, otherwise: Finding): Finding {
  if (bootsAnyway(image, facts.now)) return no('BootedWithoutImage', bootedMessage(image));
  if (step.type === 'wait') return findingOfWait(facts, image, step, otherwise);
  return countFailures(image) > 0 ? no('AttachFailed', failureMessage(facts, image)) : otherwise;
}

function findingOfWait(facts: HostFacts, image: ObservedDataImage, step: { why: Why }, otherwise: Finding): Finding {
  const { why } = step;
  const notReady = notReadyBecause[why];
  if (notReady !== undefined) return no('HostNotReady', `${hostName(facts.host)} ${notReady}`);
  if (why === 'drive backoff') return no('AttachFailed', failureMessage(facts, image));
  if (why === 'drive unreadable') {
    return no(
      'DriveUnreadable',
      `the drive of ${hostName(facts.host)} cannot be read: ${facts.driveProblem}. The host stays in its current state until the drive is readable`,
    );
  }
  if (why === 'reboot needed') return no('WaitsForReboot', waitsMessage(facts, image));
  return countFailures(image) > 0 ? no('AttachFailed', failureMessage(facts, image)) : otherwise;
}

/** Why the drive of a host is out of reach. */
const notReadyBecause: Readonly<Partial<Record<Why, string>>> = {
  detached:
    'is detached by its annotation baremetalhost.metal3.io/detached: remove the annotation to let Slipway change the drive',
  'not ours':
    'belongs to another operator or is not externally provisioned: run Slipway with --data-images-beside-operator to let it change the drive',
  'not provisioned': 'is not provisioned yet',
  bmc: 'has an unusable BMC configuration; see the status of the host',
  'no node': 'is not registered with Ironic yet',
  maintenance:
    'is in maintenance in Ironic: end the maintenance there; after a power failure Ironic ends it automatically',
  'node state': 'has a node in Ironic that is not active; see the status of the host',
  'power unknown': 'has an unknown power state in Ironic: check its BMC',
  backoff: 'cannot be reached; see the status of the host',
};

function waitsMessage({ host }: HostFacts, image: ObservedDataImage): string {
  const { message = '' } = image.memory ?? {};
  const before = message === '' ? '' : `${message}. `;
  return image.isDeleting
    ? `${before}Slipway empties the drive and deletes this object ${atNextPowerOff(host)}`
    : `${before}${image.url} is attached ${atNextPowerOff(host)}`;
}

function failureMessage({ host, now }: HostFacts, image: ObservedDataImage): string {
  const { message = '', notBefore = 0 } = image.memory ?? {};
  const next = notBefore > now ? `at ${new Date(notBefore).toISOString()}` : 'now';
  const held = image.immediate && host.poweredOn ? '' : ` ${heldMessage(host)}`;
  return `${message}. Failed ${countFailures(image)} times; next try ${next}.${held}`;
}

const heldMessage = (host: ObservedHost): string =>
  `${hostName(host)} stays off until then, because the ISO may contain its configuration: correct the URL, delete the DataImage, or annotate it with ${BOOT_ANYWAY_ANNOTATION}=1 to boot without the ISO.`;

const bootedMessage = (image: ObservedDataImage): string =>
  `${image.memory?.message ?? ''}. Failed ${countFailures(image)} times. The host boots without it, as ${BOOT_ANYWAY_ANNOTATION}=${image.bootAnywayAfter} allows; Slipway tries again at a later power-off.`;

const refusedMessage = ({ host }: HostFacts, refusal: string): string =>
  `nothing is attached to ${hostName(host)}, and it may boot without the ISO: ${refusal}. Serve the ISO from another address, or start the controller with --allow-address [SLW_DATA_IMAGE_ADDRESS]`;

function unsupportedMessage({ host }: HostFacts): string {
  const why = host.bmc.ok ? `the driver ${host.bmc.driver} cannot attach an ISO` : formatProblem(host.bmc);
  return `nothing is attached to ${hostName(host)}, and it may boot without the ISO: ${why} [SLW_DATA_IMAGE_UNSUPPORTED]`;
}

const atNextPowerOff = ({ namespace, name, isPowerOffDisabled }: ObservedHost): string =>
  isPowerOffDisabled
    ? `when the host is next off. Slipway does not power it off, because spec.disablePowerOff of BareMetalHost ${namespace}/${name} is true: set spec.immediate of the DataImage to true if the hardware supports it, or power cycle the host by hand`
    : `when the host is next powered off. Slipway does not reboot it. To reboot it, run: kubectl annotate -n ${namespace} bmh ${name} reboot.metal3.io=`;

const hostName = ({ namespace, name }: Pick<ObservedHost, 'namespace' | 'name'>): string =>
  `BareMetalHost ${namespace}/${name}`;

const no = (reason: string, message: string): Finding => ({ status: 'False', reason, message });
