// The status of a BareMetalHost that Slipway manages, in the terms of Metal3.
import type { BareMetalHost } from '@slipway/api';
import { formatProblem } from '../problems.ts';
import type { HostFacts, HostStep, Why } from './host-step.ts';
import { formatRebootAnnotation } from './memory.ts';
import { isPowerOffRequested } from './next-host-step.ts';

type Status = NonNullable<BareMetalHost['status']>;
type ErrorType = NonNullable<Status['errorType']>;

export interface HostFindings extends Pick<Status, 'operationalStatus' | 'poweredOn' | 'errorMessage' | 'errorCount'> {
  /** Undefined: no error. */
  readonly errorType: ErrorType | undefined;
  readonly provisioning: { readonly ID: string; readonly state: string };
  /** Whether Ironic has the current credentials, and whether the BMC accepted them. */
  readonly credentials: 'not tried' | 'tried' | 'good';
}

const SETTLED = 'externally provisioned';

export function hostStatus(facts: HostFacts, step: HostStep): HostFindings {
  const { host, node } = facts;
  const problem = findProblem(facts, step);
  return {
    operationalStatus: computeOperationalStatus(facts, problem),
    poweredOn: isPoweredOn(facts),
    errorType: problem?.type,
    errorMessage: problem?.message ?? '',
    errorCount: problem === null ? 0 : Math.max(1, host.memory?.failures ?? 0),
    provisioning: { ID: node?.uuid ?? '', state: computeState(facts) },
    credentials: checkCredentials(facts),
  };
}

function computeOperationalStatus({ host }: HostFacts, problem: Problem | null): Status['operationalStatus'] {
  if (host.isDetached) return 'detached';
  return problem === null ? 'OK' : 'error';
}

/** The previous value while the node is not in Ironic. */
function isPoweredOn({ host, node }: HostFacts): boolean {
  if (node?.powerState === 'power on') return true;
  return node?.powerState === 'power off' ? false : host.poweredOn;
}

function computeState({ host, node }: HostFacts): string {
  if (host.isDeleting) return 'deleting';
  // Once settled it stays settled, even if Ironic loses its database.
  return node?.provisionState === 'active' || host.state === SETTLED ? SETTLED : 'registering';
}

interface Problem {
  readonly type: ErrorType;
  readonly message: string;
}

function findProblem(facts: HostFacts, step: HostStep): Problem | null {
  const { host, node } = facts;
  if (host.isDetached || host.isDeleting) return null;
  if (!host.bmc.ok) return { type: registrationError(facts), message: formatProblem(host.bmc) };
  if (host.memory !== null && host.memory.failures > 0) {
    const type = node?.provisionState === 'active' ? 'power management error' : registrationError(facts);
    return { type, message: host.memory.message };
  }
  return findPowerOffRefusal(facts) ?? problemOfStep(facts, step);
}

function problemOfStep(facts: HostFacts, step: HostStep): Problem | null {
  const why = step.type === 'wait' ? problemOfWait[step.why] : undefined;
  return why === undefined ? null : { type: why.type, message: why.message(facts) };
}

/** Ironic's reboot is no alternative: it leaves no time to change the drive, and requested twice it reboots twice. */
function findPowerOffRefusal(facts: HostFacts): Problem | null {
  const { host, node } = facts;
  if (!host.isPowerOffDisabled || !isPowerOffRequested(facts) || node?.powerState !== 'power on') return null;
  const asked = host.online
    ? `annotation ${host.reboots.map(formatRebootAnnotation).join(', ')} requests a reboot`
    : 'spec.online is false';
  const message = `the host stays on: ${asked}, but spec.disablePowerOff is true. Power cycle it by hand, or revert one of the two [SLW_BMC_POWER_OFF_DISABLED]`;
  return { type: 'power management error', message };
}

const registrationError = ({ host }: HostFacts): ErrorType =>
  host.state === SETTLED ? 'provisioned registration error' : 'registration error';

const problemOfWait: Readonly<
  Partial<Record<Why, { readonly type: ErrorType; readonly message: (facts: HostFacts) => string }>>
> = {
  maintenance: {
    type: 'power management error',
    message: ({ node }) =>
      `node ${node?.uuid} is in maintenance in Ironic, and Slipway does not touch it${because(node?.lastError)}. End the maintenance in Ironic; after a power failure Ironic ends it automatically [SLW_IRONIC_MAINTENANCE]`,
  },
  'node state': {
    type: 'registration error',
    message: ({ node }) =>
      `node ${node?.uuid} in Ironic: expected enroll, manageable or active, found ${node?.provisionState}${because(node?.lastError)}. Another client uses the node: move it to manageable, or delete it in Ironic [SLW_IRONIC_NODE_STATE]`,
  },
  'power unknown': {
    type: 'power management error',
    message: ({ node }) =>
      `the power state of the host in Ironic: expected power on or power off, found ${node?.powerState ?? 'nothing'}${because(node?.lastError)}. Check its BMC [SLW_IRONIC_POWER_UNKNOWN]`,
  },
};

const because = (lastError: string | null | undefined): string =>
  lastError === null || lastError === undefined ? '' : `: ${lastError}`;

function checkCredentials({ host, node }: HostFacts): HostFindings['credentials'] {
  if (node === null || !host.bmc.ok || node.sentDigest !== host.bmc.digest) return 'not tried';
  const isTaken = ['manageable', 'adopting', 'active'].includes(node.provisionState);
  return isTaken && (host.memory?.failures ?? 0) === 0 ? 'good' : 'tried';
}
