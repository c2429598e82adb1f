// The events of a step: what Slipway does to a user's machine, and what fails.
import { type BareMetalHost, bareMetalHosts, type DataImage, dataImages } from '@slipway/api';
import type { ObservedDataImage, HostMemory, HostStep } from '@slipway/fleet/hosts';
import type { Context, EventInput, Metrics } from '@slipway/kube';
import { Counter, Gauge } from 'prom-client';

export interface EventTargets {
  readonly host: BareMetalHost;
  readonly image: DataImage | undefined;
  /** The state before the step. */
  readonly hostMemory: HostMemory | null;
  readonly imageSeen: ObservedDataImage | null;
}

export function recordStepEvents(
  step: HostStep,
  targets: EventTargets,
  { events, log }: Pick<Context, 'events' | 'log'>,
): void {
  log.info(
    { step: step.type, ...('target' in step && { target: step.target }) },
    'executing a step for a bare-metal host',
  );
  const ofHost = buildHostEvent(step, targets);
  if (ofHost !== null) events.record(bareMetalHosts, targets.host, ofHost);
  const ofImage = buildImageEvent(step, targets);
  if (ofImage !== null && targets.image !== undefined) events.record(dataImages, targets.image, ofImage);
}

function buildHostEvent(step: HostStep, { hostMemory }: EventTargets): EventInput | null {
  switch (step.type) {
    case 'register':
      return normal('Registering', 'Slipway is registering the host in Ironic');
    case 'update node':
      return normal('BMCChanged', 'Slipway is updating the BMC settings of the host in Ironic');
    case 'power':
      return normal('PowerChanging', powerMessages[step.target]);
    case 'clear reboot':
      return normal('Rebooting', 'The host is off for the reboot. Slipway removes the annotation reboot.metal3.io');
    case 'delete node':
      return normal('Deregistering', 'Slipway is deleting the host from Ironic. The machine does not change');
    case 'remember host':
      return step.memory.failures > (hostMemory?.failures ?? 0) ? warning('HostFailed', step.memory.message) : null;
    default:
      return null;
  }
}

const powerMessages = {
  'power on': 'Slipway is powering the host on',
  'power off': 'Slipway is powering the host off',
  'soft power off': 'Slipway is asking the operating system to shut down',
} as const;

function buildImageEvent(step: HostStep, { imageSeen }: EventTargets): EventInput | null {
  switch (step.type) {
    case 'attach':
      return normal('Attaching', `Slipway is attaching ${step.url} through Ironic`);
    case 'detach':
      return normal('Detaching', `Slipway is ejecting ${step.remember.url} through Ironic`);
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
  return before?.memory?.doing === 'detach' ? normal('Detached', `${url} is no longer in the drive`) : null;
}

const normal = (reason: string, message: string): EventInput => ({ type: 'Normal', reason, message });
export const warning = (reason: string, message: string): EventInput => ({ type: 'Warning', reason, message });

// The metrics of bare-metal hosts and their DataImages.

export interface HostMetrics {
  called(call: string, outcome: 'accepted' | 'refused' | 'unsure'): void;
  /** Consecutive failures to change the drive of this host. */
  failures(key: string, count: number): void;
  reset(): void;
}

export function createHostMetrics({ registry }: Pick<Metrics, 'registry'>): HostMetrics {
  const calls = new Counter({
    name: 'slipway_ironic_calls_total',
    help: 'Calls to Ironic that change something, by outcome.',
    labelNames: ['call', 'outcome'],
    registers: [registry],
  });
  const failures = new Gauge({
    name: 'slipway_data_image_failures',
    help: 'Consecutive failures to attach or detach a DataImage.',
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
