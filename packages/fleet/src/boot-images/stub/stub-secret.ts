// The Secret that contains a stub, in the formats of both machine APIs.
import type { Secret } from '@slipway/api';
import { MANAGED_BY_LABEL } from '../../kube-object.ts';
import type { MachineResource } from '../verdict.ts';

/** The fields of a Secret that are read; `data` in plain text. */
export interface StubSecret {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
}

export const toStubSecret = ({ metadata, type, data = {} }: Secret): StubSecret => ({
  labels: metadata.labels ?? {},
  annotations: metadata.annotations ?? {},
  type: type ?? 'Opaque',
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decode(value)])),
});

const decode = (value: string): string => Buffer.from(value, 'base64').toString('utf8');

type Api = MachineResource['api'];

/** The key that the machine controllers of each API read. */
const KEYS: Readonly<Record<Api, string>> = { 'machine.openshift.io': 'userData', 'cluster.x-k8s.io': 'value' };

const MANAGED_SUFFIX = '-user-data-managed';
const COPY_SUFFIX = '-slipway';
const MAX_NAME_LENGTH = 253;

/** On our copy of a customised stub: the name of the original Secret. */
export const COPY_OF_ANNOTATION = 'slipway.dev/stub-copy-of';

export const managedStubName = (role: string): string => `${role}${MANAGED_SUFFIX}`;

export interface StubNames {
  /** The user's Secret. */
  readonly original: string;
  /** The name of our copy, whether or not it exists. */
  readonly copy: string;
}

/** `referenced`: the referenced Secret, null if it does not exist. A name alone does not identify our copy. */
export function stubNames(reference: string, referenced: StubSecret | null): StubNames {
  const original = referenced === null ? withoutSuffix(reference) : referenced.annotations[COPY_OF_ANNOTATION];
  if (original !== undefined && toCopyName(original) === reference) return { original, copy: reference };
  return { original: reference, copy: toCopyName(reference) };
}

const toCopyName = (original: string): string => `${original}${COPY_SUFFIX}`;

const withoutSuffix = (name: string): string | undefined =>
  name.endsWith(COPY_SUFFIX) && name.length > COPY_SUFFIX.length ? name.slice(0, -COPY_SUFFIX.length) : undefined;

export const isNameTooLong = (name: string): boolean => name.length > MAX_NAME_LENGTH;

type StubText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

export function stubText({ data }: StubSecret, api: Api): StubText {
  const key = KEYS[api];
  const text = data[key];
  if (text === undefined || text.trim() === '')
    return { ok: false, reason: `expected a stub under the key ${key}, found none` };
  if (api === 'cluster.x-k8s.io' && data['format'] !== undefined && data['format'].trim() !== 'ignition')
    return { ok: false, reason: 'the key format: expected ignition, found another value' };
  const differs = Object.values(KEYS).some((other) => data[other] !== undefined && data[other] !== text);
  // Otherwise each reader might pick a different one.
  return differs
    ? { ok: false, reason: 'the keys userData and value contain different stubs: make them identical' }
    : { ok: true, text };
}

/** The data of a Secret with another stub, under the same keys; everything else stays. */
export function withStub({ data }: StubSecret, text: string): Record<string, string> {
  const stubs = Object.values(KEYS).filter((key) => data[key] !== undefined);
  return { ...data, ...Object.fromEntries(stubs.map((key) => [key, text])) };
}

interface SecretMetadata {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly deletionTimestamp?: string;
}

/** Whether it may be deleted once unreferenced: a copy that we created, and that no other client has changed. */
export function isCollectableCopy({
  name,
  labels,
  annotations,
  finalizers,
  deletionTimestamp,
}: SecretMetadata): boolean {
  const original = annotations?.[COPY_OF_ANNOTATION];
  const isOurs = labels?.[MANAGED_BY_LABEL] === 'slipway' && original !== undefined && name === toCopyName(original);
  return isOurs && (finalizers ?? []).length === 0 && deletionTimestamp === undefined;
}
