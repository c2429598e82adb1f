// Beside an operator that powers the hosts itself: only the drive is ours, and the host is held off by our own reboot
// annotation while it is changed. The annotation makes that operator switch the host off, so it goes on only where the
// host is off already or somebody has asked for a reboot.
import { mediumOf } from './drive-memory.ts';
import type { DataImageSeen, HostFacts, HostStep, IronicNode, StepOptions } from './host-step.ts';
import { bootsAnyway, canAttach, isBusy, nextDriveStep } from './next-drive-step.ts';
import { isOwn } from './reboot-requests.ts';

const provisioned = new Set(['provisioned', 'externally provisioned']);

export function stepBesideOperator(facts: HostFacts, options: StepOptions): HostStep {
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

function untilHeld(facts: HostFacts, node: IronicNode, image: DataImageSeen, options: StepOptions): HostStep {
  const { host } = facts;
  // Where power-off is disabled, that operator reboots the host without a time that it is off.
  const isWindow = isOff(facts, node) || (host.reboots.length > 0 && !host.isPowerOffDisabled);
  if (isWindow && !image.immediate && isPending(facts, image)) return { type: 'hold off' };
  // What is attached is looked at once more before that operator switches the host on.
  const how = { mayChange: image.immediate, isBooting: isWindow };
  return driveStep(facts, node, image, options, how) ?? { type: 'wait', why: 'at rest', ms: null };
}

function whileHeld(facts: HostFacts, node: IronicNode, image: DataImageSeen, options: StepOptions): HostStep {
  // It is on, nobody else asks for a reboot, and it cannot have been off since: whoever asked has thought better of it.
  const isAlone = facts.host.reboots.every(isOwn) || facts.host.isPowerOffDisabled;
  const isCancelled = isAlone && facts.host.poweredOn && isOn(node);
  if (isCancelled) return { type: 'release hold' };
  // That operator may have been switching it on when the annotation went on.
  const hasSeen = facts.host.reboots.some((each) => isOwn(each) && facts.now >= each.since + options.settleMs);
  const isHeld = hasSeen && isOff(facts, node);
  const how = { mayChange: image.immediate || isHeld, isBooting: isHeld };
  const step = driveStep(facts, node, image, options, how);
  if (step === null) return { type: 'release hold' };
  return step.type === 'wait' && step.why === 'reboot needed'
    ? { type: 'wait', why: 'busy', ms: options.pollMs }
    : step;
}

function driveStep(
  facts: HostFacts,
  node: IronicNode,
  image: DataImageSeen,
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
function isPending(facts: HostFacts, image: DataImageSeen): boolean {
  if (bootsAnyway(image, facts.now)) return false;
  const medium = mediumOf(image);
  if (medium === 'none') return !image.isDeleting && canAttach(facts);
  return medium !== 'attached' || image.isDeleting || image.memory?.url !== image.url;
}
