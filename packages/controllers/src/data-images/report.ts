// What people hear of a step in events: what was done to their machine, and what did not work.
import { type BareMetalHost, bareMetalHosts, type DataImage, dataImages } from '@slipway/api';
import type { ObservedDataImage, HostMemory, HostStep } from '@slipway/fleet/hosts';
import type { Context, EventInput, Metrics } from '@slipway/kube';
import { Counter, Gauge } from 'prom-client';

export interface EventTargets {
  readonly host: BareMetalHost;
  readonly image: DataImage | undefined;
  /** Of both, before the step. */
  readonly hostMemory: HostMemory | null;
  readonly imageSeen: ObservedDataImage | null;
}

export function recordStepEvents(
  step: HostStep,
  targets: EventTargets,
  { events, log }: Pick<Context, 'events' | 'log'>,
): void {
  log.info({ step: step.type, ...('target' in step && { target: step.target }) }, 'a step of a bare-metal host');
  const ofHost = buildHostEvent(step, targets);
  if (ofHost !== null) events.record(bareMetalHosts, targets.host, ofHost);
  const ofImage = buildImageEvent(step, targets);
  if (ofImage !== null && targets.image !== undefined) events.record(dataImages, targets.image, ofImage);
}

function buildHostEvent(step: HostStep, { hostMemory }: EventTargets): EventInput | null {
  switch (step.type) {
    case 'register':
      return normal('Registering', 'Ironic is told of the host');
    case 'update node':
      return normal('BMCChanged', 'Ironic is told how the BMC is reached now');
    case 'power':
      return normal('PowerChanging', powerMessages[step.target]);
    case 'clear reboot':
      return normal('Rebooting', 'the host is off, and the annotation reboot.metal3.io is served');
    case 'delete node':
      return normal('Deregistering', 'Ironic is told to forget the host; the host itself stays as it is');
    case 'remember host':
      return step.memory.failures > (hostMemory?.failures ?? 0) ? warning('HostFailed', step.memory.message) : null;
    default:
      return null;
  }
}

const powerMessages = {
  'power on': 'the host is switched on',
  'power off': 'the power of the host is switched off',
  'soft power off': 'the operating system is asked to shut down',
} as const;

function buildImageEvent(step: HostStep, { imageSeen }: EventTargets): EventInput | null {
  switch (step.type) {
    case 'attach':
      return normal('Attaching', `Ironic is asked to attach ${step.url}`);
    case 'detach':
      return normal('Detaching', `Ironic is asked to empty the drive of ${step.remember.url}`);
    case 'remember drive':
      return buildDriveEvent(step.memory, imageSeen);
    default:
      return null;
  }
}

function buildDriveEvent(
  { isAttached, url, failures, message }: Extract<HostStep, { type: 'remember drive' }>['memory'],
  before: ObservedDataImage | null,
): EventInput | null {
  if (isAttached) return normal('Attached', `${url} is in the drive`);
  if (failures > (before?.memory?.failures ?? 0)) return warning('AttachFailed', message);
  return before?.memory?.doing === 'detach' ? normal('Detached', `${url} is not in the drive any more`) : null;
}

const normal = (reason: string, message: string): EventInput => ({ type: 'Normal', reason, message });
export const warning = (reason: string, message: string): EventInput => ({ type: 'Warning', reason, message });

// What can be measured of bare-metal hosts and their DataImages.

export interface HostMetrics {
  called(call: string, outcome: 'accepted' | 'refused' | 'unsure'): void;
  /** Failures in a row to change the drive of this host. */
  failures(key: string, count: number): void;
  reset(): void;
}

export function createHostMetrics({ registry }: Pick<Metrics, 'registry'>): HostMetrics {
  const calls = new Counter({
    name: 'slipway_ironic_calls_total',
    help: 'Calls to Ironic that change something, by how they ended.',
    labelNames: ['call', 'outcome'],
    registers: [registry],
  });
  const failures = new Gauge({
    name: 'slipway_data_image_failures',
    help: 'Failures in a row to attach or detach a DataImage.',
    labelNames: ['host'],
    registers: [registry],
  });
  return {
    called: (call, outcome) => calls.inc({ call, outcome }),
    failures(host, count) {
      if (count > 0) failures.set({ host }, count);
      else failures.remove({ host });
    },
    reset: () => failures.reset(),
  };
}
