// status of a DataImage: all of it follows from what is known and from the step that is next, so nothing is kept in it.
import type { DataImage } from '@slipway/api';
import { formatProblem } from '../problems.ts';
import type { ObservedDataImage, HostFacts, ObservedHost, HostStep, StepOptions, Why } from './host-step.ts';
import { BOOT_ANYWAY_ANNOTATION, countFailures, computeMedium } from './memory.ts';
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
  const failures = countFailures(image);
  const doubt = computeMedium(image) === 'attached' ? findDoubt(facts, image, besideOperator) : null;
  return {
    attachedImage: doubt === null ? computeAttachedImage(image) : undefined,
    error: failures === 0 ? undefined : { count: failures, message: image.memory?.message ?? '' },
    attached: doubt ?? computeFinding(facts, image, step),
  };
}

export const statusWithoutHost = (
  image: ObservedDataImage,
  { namespace, name }: Pick<ObservedHost, 'namespace' | 'name'>,
) =>
  ({
    attachedImage: undefined,
    error: undefined,
    attached: no('NoHost', `there is no BareMetalHost ${namespace}/${name}: ${image.url} is attached once there is`),
  }) satisfies DataImageFindings;

function computeAttachedImage(image: ObservedDataImage): Status['attachedImage'] {
  const medium = computeMedium(image);
  if (medium === 'attached') return { url: image.memory?.url ?? '' };
  return medium === 'unverified' && image.attachedUrl !== null ? { url: image.attachedUrl } : undefined;
}

/**
 * What was verified once may not be so any more: a host that Ironic adopts anew has its drive emptied by that, and somebody
 * may have changed the medium. Until it is known, attached is not said. Null: there is no doubt.
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
    return 'Ironic has to adopt the host again, which ejects what is there: it is looked at after that';
  }
  return isFreshlyAdopted(facts) && drive === null
    ? `Ironic has adopted the host again, and the drive cannot be read: ${driveProblem ?? 'it was not asked'}`
    : null;
}

/** To adopt a node empties its drive, and nobody has asked for anything since: what was attached may be out. */
export const isFreshlyAdopted = ({ host, node }: HostFacts): boolean =>
  host.memory?.doing === 'adopt' && node?.provisionState === 'active';

function contradiction({ drive }: HostFacts, { memory }: ObservedDataImage): string | null {
  if (drive === null) return null;
  if (!drive.inserted) return 'the drive is empty now';
  return drive.image === memory?.reported ? null : `now ${drive.image || 'a medium without a name'} is`;
}

function computeFinding(facts: HostFacts, image: ObservedDataImage, step: HostStep): Finding {
  switch (computeMedium(image)) {
    case 'attached':
      return findingOfAttached(facts, image);
    case 'unverified':
      return {
        status: 'Unknown',
        reason: 'NotVerified',
        message: `another operator says that ${image.attachedUrl} is attached; it is taken out, and ${image.url} attached, ${atNextPowerOff(facts.host)}`,
      };
    case 'detaching':
      return findingWhileChanging(
        facts,
        image,
        step,
        no('Detaching', `${image.memory?.url} is being taken out of the drive`),
      );
    case 'attaching':
      return findingWhileChanging(
        facts,
        image,
        step,
        no('Attaching', `${image.memory?.url} is being attached; Ironic has not finished`),
      );
    case 'none':
      return findingOfEmpty(facts, image, step);
  }
}

function findingOfAttached({ host }: HostFacts, image: ObservedDataImage): Finding {
  const url = image.memory?.url ?? '';
  if (image.isDeleting) {
    return {
      status: 'True',
      reason: 'DetachWaitsForReboot',
      message: `${url} is still in the drive; it is taken out, and this object goes, ${atNextPowerOff(host)}`,
    };
  }
  return url === image.url
    ? { status: 'True', reason: 'Attached', message: `${url} is in the drive` }
    : no('ChangeWaitsForReboot', `${url} is in the drive; ${image.url} takes its place ${atNextPowerOff(host)}`);
}

function findingOfEmpty(facts: HostFacts, image: ObservedDataImage, step: HostStep): Finding {
  if (!canAttach(facts)) return no('Unsupported', unsupportedMessage(facts));
  return findingWhileChanging(facts, image, step, no('Pending', `${image.url} is attached next`));
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
      `the drive of ${hostName(facts.host)} cannot be read: ${facts.driveProblem}; the host is left as it is until it can`,
    );
  }
  if (why === 'reboot needed') return no('WaitsForReboot', waitsMessage(facts, image));
  return countFailures(image) > 0 ? no('AttachFailed', failureMessage(facts, image)) : otherwise;
}

/** Why the drive of a host is out of our hands. */
const notReadyBecause: Readonly<Partial<Record<Why, string>>> = {
  detached:
    'is detached by its annotation baremetalhost.metal3.io/detached: remove the annotation to have the drive changed',
  'not ours':
    'belongs to another operator or is not externally provisioned: run Slipway with --data-images-beside-operator to have its drive changed',
  'not provisioned': 'is not provisioned yet',
  bmc: 'has a BMC that cannot be used; its status says why',
  'no node': 'is not registered with Ironic yet',
  maintenance:
    'is in maintenance in Ironic: whoever put it there ends it; after a power failure Ironic does so by itself',
  'node state': 'has a node in Ironic that is not active; the status of the host says more',
  'power unknown': 'is neither on nor off as far as Ironic knows: look at its BMC',
  backoff: 'cannot be reached; its status says why',
};

function waitsMessage({ host }: HostFacts, image: ObservedDataImage): string {
  const { message = '' } = image.memory ?? {};
  const before = message === '' ? '' : `${message}. `;
  return image.isDeleting
    ? `${before}the drive is emptied, and this object goes, ${atNextPowerOff(host)}`
    : `${before}${image.url} is attached ${atNextPowerOff(host)}`;
}

function failureMessage({ host, now }: HostFacts, image: ObservedDataImage): string {
  const { message = '', notBefore = 0 } = image.memory ?? {};
  const next = notBefore > now ? `at ${new Date(notBefore).toISOString()}` : 'now';
  const held = image.immediate && host.poweredOn ? '' : ` ${heldMessage(host)}`;
  return `${message}. Failed ${countFailures(image)} times, tried again ${next}.${held}`;
}

const heldMessage = (host: ObservedHost): string =>
  `${hostName(host)} is held off until then, because the ISO may be what it is configured by: put the URL right, delete the DataImage, or annotate it with ${BOOT_ANYWAY_ANNOTATION}=1 to boot without it.`;

const bootedMessage = (image: ObservedDataImage): string =>
  `${image.memory?.message ?? ''}. Failed ${countFailures(image)} times, and the host boots without it, as ${BOOT_ANYWAY_ANNOTATION}=${image.bootAnywayAfter} allows; it is tried again at a later power-off.`;

function unsupportedMessage({ host }: HostFacts): string {
  const why = host.bmc.ok ? `the driver ${host.bmc.driver} cannot attach an ISO` : formatProblem(host.bmc);
  return `nothing is attached to ${hostName(host)}, and it is not held off: ${why} [SLW_DATA_IMAGE_UNSUPPORTED]`;
}

const atNextPowerOff = ({ namespace, name, isPowerOffDisabled }: ObservedHost): string =>
  isPowerOffDisabled
    ? `when the host is next found off. Slipway does not switch it off, for spec.disablePowerOff of BareMetalHost ${namespace}/${name} is true: set spec.immediate of the DataImage to true, where the hardware can, or power cycle the host by hand`
    : `when the host is next powered off. Nobody reboots it for that: kubectl annotate -n ${namespace} bmh ${name} reboot.metal3.io= does`;

const hostName = ({ namespace, name }: ObservedHost): string => `BareMetalHost ${namespace}/${name}`;

const no = (reason: string, message: string): Finding => ({ status: 'False', reason, message });
