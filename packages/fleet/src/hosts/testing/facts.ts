// Facts for tables: a host at rest, with what a row changes.
import type { ObservedDataImage, DriveMemory, HostFacts, HostMemory, ObservedHost, IronicNode } from '../host-step.ts';
import { emptyDrive, emptyHostMemory } from '../memory.ts';

export const NOW = 1_000_000_000;
export const ISO_A = 'http://iso.example/a.iso';
export const ISO_B = 'http://iso.example/b.iso';
/** Ironic's names for its copies of both. */
export const PUBLISHED = 'http://ironic.example/cdrom-node-1.iso';

const aHost = (changes: Partial<ObservedHost> = {}): ObservedHost => ({
  namespace: 'metal',
  name: 'worker-0',
  uid: 'uid-1',
  isDeleting: false,
  deletingSince: 0,
  hasFinalizer: true,
  online: true,
  isPowerOffDisabled: false,
  externallyProvisioned: true,
  state: 'externally provisioned',
  poweredOn: true,
  isPaused: false,
  isDetached: false,
  isDeletionDelayed: false,
  reboots: [],
  bmc: { ok: true, driver: 'redfish', digest: 'now', nonBootableISOImage: true },
  isForeign: false,
  memory: null,
  ...changes,
});

export const aNode = (changes: Partial<IronicNode> = {}): IronicNode => ({
  uuid: 'node-1',
  provisionState: 'active',
  targetProvisionState: null,
  powerState: 'power on',
  targetPowerState: null,
  reservation: null,
  lastError: null,
  maintenance: false,
  sentDigest: 'now',
  ...changes,
});

export const off = { powerState: 'power off' } as const;

export const anImage = (changes: Partial<ObservedDataImage> = {}): ObservedDataImage => ({
  url: ISO_A,
  immediate: false,
  isDeleting: false,
  hasFinalizer: true,
  hasOwner: true,
  attachedUrl: null,
  errorCount: 0,
  memory: null,
  bootAnywayAfter: null,
  refusal: null,
  ...changes,
});

export const drive = (changes: Partial<DriveMemory> = {}): DriveMemory => ({ ...emptyDrive(ISO_A), ...changes });
export const attachedA = drive({ isAttached: true, reported: PUBLISHED, node: 'node-1' });
export const sampleHostMemory = (changes: Partial<HostMemory>): HostMemory => ({ ...emptyHostMemory, ...changes });

export const empty = { inserted: false, image: '' };
export const ours = { inserted: true, image: PUBLISHED };
export const foreign = { inserted: true, image: 'http://somebody.example/tool.iso' };

export interface FactsInput {
  readonly host?: Partial<ObservedHost>;
  /** Null: not in Ironic. */
  readonly node?: Partial<IronicNode> | null;
  readonly image?: Partial<ObservedDataImage>;
  readonly drive?: HostFacts['drive'];
  readonly driveProblem?: string;
}

export const buildFacts = ({ host, node, image, drive: seen = null, driveProblem }: FactsInput): HostFacts => ({
  host: aHost(host),
  node: node === null ? null : aNode(node),
  drive: seen,
  driveProblem: driveProblem ?? null,
  dataImage: image === undefined ? null : anImage(image),
  now: NOW,
});
