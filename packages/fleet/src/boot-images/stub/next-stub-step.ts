// The next step for the user data of a MachineSet or MachineDeployment.
import { isEqual } from '@slipway/base/equal';
import { MANAGED_BY_LABEL } from '../../kube-object.ts';
import type { StubReading } from '../facts.ts';
import type { BootImageCode, MachineResource } from '../verdict.ts';
import { classifyStub, type StubClass } from './classify-stub.ts';
import { type CopiedStub, managedCopy, serverOrigin } from './managed-copy.ts';
import {
  COPY_OF_ANNOTATION,
  isNameTooLong,
  managedStubName,
  stubNames,
  type StubNames,
  type StubSecret,
  stubText,
  withStub,
} from './stub-secret.ts';

export interface StubFacts {
  readonly api: MachineResource['api'];
  readonly namespace: string;
  /** The referenced name of the machines' user data; '' if there is none. */
  readonly reference: string;
  /** By stubNames. */
  readonly names: StubNames;
  /** Null if the Secret does not exist. `managed` has the name managedStubName(stubRole(original, else copy)). */
  readonly original: StubSecret | null;
  readonly copy: StubSecret | null;
  readonly managed: StubSecret | null;
}

/** The desired state of our copy of a customised stub. */
export interface DesiredCopy {
  readonly name: string;
  readonly type: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, string>>;
}

interface Target {
  /** The name to reference. */
  readonly wanted: string;
  /** Human-readable; '' if there is nothing to report. */
  readonly why: string;
  /** An image that can read the current stub (spec 2) may be unable to read the new one. */
  readonly needsNewImage: boolean;
}

export type StubStep =
  | ({ readonly type: 'keep' } & Target)
  | ({ readonly type: 'point' } & Target)
  /** Write the copy first, then reference it if needed. */
  | ({ readonly type: 'copy'; readonly copy: DesiredCopy } & Target)
  | {
      readonly type: 'failed';
      readonly code: Extract<BootImageCode, 'SLW_BOOT_IMAGES_STUB'>;
      readonly message: string;
    };

/** The form that the decision about a resource takes. */
export const stubReading = (current: string, step: StubStep): StubReading =>
  step.type === 'failed'
    ? { ok: false, current, message: step.message }
    : { ok: true, current, wanted: step.wanted, note: step.why, needsNewImage: step.needsNewImage };

/** The pool of a stub, from its text; null if it names none. */
export function stubRole(secret: StubSecret | null, api: MachineResource['api']): string | null {
  const stub = secret === null ? null : stubText(secret, api);
  if (stub?.ok !== true) return null;
  // Whether the server is ours is checked later, with the managed stub of that pool.
  const known = [classifyStub(stub.text), classifyStub(stub.text, 'any')].find(({ type }) => type !== 'unusable');
  return known === undefined || known.type === 'unusable' ? null : known.role;
}

export function nextStubStep(facts: StubFacts): StubStep {
  const { reference, api } = facts;
  // Machines without user data are user-managed.
  if (reference === '') return { type: 'keep', wanted: '', why: '', needsNewImage: false };
  const source = findSource(facts);
  if (source === null)
    return failed(
      `Secret ${at(facts, reference)}: expected user data, found no such Secret. Create it, or reference another one`,
    );
  const text = stubText(source.secret, api);
  if (!text.ok) return failed(`Secret ${at(facts, source.name)}: ${text.reason}`);
  const ours = managedText(facts);
  const found = classifyStub(text.text, ours === null ? null : serverOrigin(ours));
  if (found.type === 'unusable') return failed(`Secret ${at(facts, source.name)}: ${found.reason}`);
  if (ours === null) return failed(noManaged(facts, found.role));
  const needsNewImage = reference === source.name && found.config.ignition.version.startsWith('2.');
  return isToCopy(facts, found)
    ? copied(facts, source, managedCopy(text.text, ours), needsNewImage)
    : pointed(facts, found.role, needsNewImage);
}

function managedText({ managed, api }: StubFacts): string | null {
  const text = managed === null ? null : stubText(managed, api);
  return text?.ok === true ? text.text : null;
}

/** Additions to the managed stub do not last: its controller reverts them. */
const isToCopy = ({ reference }: StubFacts, { type, role }: Exclude<StubClass, { type: 'unusable' }>): boolean =>
  type === 'customised' && reference !== managedStubName(role);

interface Source {
  readonly name: string;
  readonly secret: StubSecret;
}

/** A copy whose original is gone becomes its own original, so that no customisation is lost. */
function findSource({ reference, names, original, copy }: StubFacts): Source | null {
  if (original !== null) return { name: names.original, secret: original };
  const isIt = copy !== null && reference === names.copy && isOurs(copy, names);
  return isIt ? { name: names.copy, secret: copy } : null;
}

const isOurs = ({ labels, annotations }: StubSecret, { original }: StubNames): boolean =>
  labels[MANAGED_BY_LABEL] === 'slipway' && annotations[COPY_OF_ANNOTATION] === original;

function pointed({ reference }: StubFacts, role: string, needsNewImage: boolean): StubStep {
  const wanted = managedStubName(role);
  if (reference === wanted) return { type: 'keep', wanted, why: '', needsNewImage: false };
  const why = `user data ${reference} only points to the machine config server: ${wanted} does the same and stays up to date`;
  return { type: 'point', wanted, why, needsNewImage };
}

function copied(facts: StubFacts, source: Source, made: CopiedStub, needsNewImage: boolean): StubStep {
  const { names, copy } = facts;
  const place = `Secret ${at(facts, source.name)}`;
  if (copy !== null && !isOurs(copy, names)) return failed(notOurs(facts));
  if (isNameTooLong(names.copy))
    return failed(`${place}: its name is too long to copy it: expected at most 245 characters`);
  if (!made.ok) return failed(`${place} is customised and cannot be updated: ${made.reason}`);
  const data = withStub(source.secret, made.text);
  const why = `user data ${names.original} is customised: ${names.copy} is a copy of it with the current address, CA and token`;
  const target = { wanted: names.copy, why, needsNewImage };
  if (copy === null || !isEqual({ ...copy.data }, data))
    return { type: 'copy', ...target, copy: buildDesiredCopy(names, source.secret, data) };
  return { type: facts.reference === names.copy ? 'keep' : 'point', ...target };
}

const buildDesiredCopy = (
  { copy, original }: StubNames,
  source: StubSecret,
  data: DesiredCopy['data'],
): DesiredCopy => ({
  name: copy,
  type: source.type,
  labels: { ...clusterLabels(source), [MANAGED_BY_LABEL]: 'slipway' },
  annotations: { [COPY_OF_ANNOTATION]: original },
  data,
});

/** Cluster API providers find Secrets by these labels. Other labels could make a tool adopt the copy. */
const clusterLabels = ({ labels }: StubSecret): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => /^([a-z0-9-]+\.)*cluster\.x-k8s\.io\//.test(name)));

const at = ({ namespace }: StubFacts, name: string): string => `${namespace}/${name}`;

const failed = (message: string): StubStep => ({ type: 'failed', code: 'SLW_BOOT_IMAGES_STUB', message });

const noManaged = (facts: StubFacts, role: string): string =>
  `Secret ${at(facts, managedStubName(role))}: expected the managed stub of pool ${role}, found ${facts.managed === null ? 'no such Secret' : 'no stub in it'}. Slipway creates it once MachineConfigPool ${role} exists and the address of the machine config server is known`;

const notOurs = (facts: StubFacts): string =>
  `Secret ${at(facts, facts.names.copy)}: expected Slipway's copy of the customised stub ${facts.names.original}, found another client's Secret. Rename it`;

export interface UserData {
  readonly reading: StubReading;
  /** The desired state of our copy; null if there is none, or it is up to date. */
  readonly copy: DesiredCopy | null;
}

/** Reads all facts about user data. '' is the name of no Secret. `names`: those that were read. */
export async function readStubFacts(
  { api, namespace }: Pick<MachineResource, 'api' | 'namespace'>,
  reference: string,
  load: (name: string) => Promise<StubSecret | null>,
): Promise<StubFacts> {
  const names = stubNames(reference, await load(reference));
  const original = await load(names.original);
  const copy = await load(names.copy);
  const role = stubRole(original ?? copy, api);
  const managed = await load(role === null ? '' : managedStubName(role));
  return { api, namespace, reference, names, original, copy, managed };
}

export function decideUserData(facts: StubFacts): UserData {
  const step = nextStubStep(facts);
  return { reading: stubReading(facts.reference, step), copy: step.type === 'copy' ? step.copy : null };
}
