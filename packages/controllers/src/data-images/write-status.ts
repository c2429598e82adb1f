// Writes the observed state into the status of our hosts and their DataImages, where it differs.
import { type BareMetalHost, bareMetalHosts, type DataImage, dataImages, type Secret } from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { canonicalJson } from '@slipway/fleet';
import type { DataImageFindings, HostFindings } from '@slipway/fleet/hosts';
import { type Context, keyOf, setCondition, type Stored } from '@slipway/kube';

type WriteContext = Pick<Context, 'write' | 'now'>;

interface ImageWriteContext {
  readonly dropped: DroppedFields;
  readonly context: WriteContext;
}

export async function writeHostStatus(
  host: Stored<BareMetalHost>,
  { credentials, ...found }: HostFindings,
  secret: Stored<Secret> | undefined,
  { write, now }: WriteContext,
): Promise<Stored<BareMetalHost>> {
  const wanted = { ...found, errorType: found.errorType ?? null, ...triedCredentials(credentials, secret) };
  if (isIn(host.status, wanted)) return host;
  const status = { ...wanted, lastUpdated: now().toISOString() };
  return write.patchStatus(bareMetalHosts, host, status);
}

function triedCredentials(credentials: HostFindings['credentials'], secret: Stored<Secret> | undefined): object {
  if (secret === undefined || credentials === 'not tried') return {};
  const { name, namespace, resourceVersion } = secret.metadata;
  const these = { credentials: { name, namespace }, credentialsVersion: resourceVersion };
  return { triedCredentials: these, ...(credentials === 'good' && { goodCredentials: these }) };
}

export async function writeImageStatus(
  image: Stored<DataImage>,
  { attached, ...found }: DataImageFindings,
  { dropped, context }: ImageWriteContext,
): Promise<Stored<DataImage>> {
  const { generation, uid } = image.metadata;
  const now = context.now();
  const update = { type: 'Attached', ...attached, ...(generation !== undefined && { observedGeneration: generation }) };
  const fields = { attachedImage: found.attachedImage ?? null, error: found.error ?? null };
  const wanted = { ...fields, conditions: setCondition(image.status?.conditions, update, now) };
  if (isIn(image.status, wanted)) return image;
  const key = keyOf(image);
  const takeSnapshot = ({ status }: DataImage) => ({
    uid,
    wanted: { ...fields, update },
    found: pickOwnFields(status),
  });
  if (dropped.areKnown(key, takeSnapshot(image))) return image;
  const status = { ...wanted, lastReconciled: now.toISOString() };
  const written = await context.write.patchStatus(dataImages, image, status);
  if (isIn(written.status, wanted)) dropped.forget(key);
  else dropped.remember(key, takeSnapshot(written));
  return written;
}

const pickOwnFields = (status: DataImage['status']) => ({
  attachedImage: status?.attachedImage ?? null,
  error: status?.error ?? null,
  conditions: status?.conditions ?? null,
});

/** Null means that the field is absent. Other fields of the object are ignored. */
function isIn(current: unknown, wanted: unknown): boolean {
  if (!isRecord(wanted)) return canonicalJson(current ?? null) === canonicalJson(wanted ?? null);
  return Object.entries(wanted).every(([field, value]) => isIn(isRecord(current) ? current[field] : undefined, value));
}

// A CRD silently drops fields that it does not know, as Metal3's does with the conditions of a DataImage. Writing them
// again would only change a timestamp, on every run.

/** The desired and the observed status of one object, without timestamps. */
export interface StatusSnapshot {
  readonly uid: string;
  readonly wanted: unknown;
  readonly found: unknown;
}

export interface DroppedFields {
  /** The same status was written before, with the same result. */
  areKnown(key: string, seen: StatusSnapshot): boolean;
  /** The write succeeded, but the response lacks some fields. */
  remember(key: string, seen: StatusSnapshot): void;
  /** The object is gone, or has all of its fields. */
  forget(key: string): void;
  clear(): void;
}

export function createDroppedFields(): DroppedFields {
  const seenBefore = new Map<string, string>();
  return {
    areKnown: (key, seen) => seenBefore.get(key) === canonicalJson(seen),
    remember: (key, seen) => void seenBefore.set(key, canonicalJson(seen)),
    forget: (key) => void seenBefore.delete(key),
    clear: () => seenBefore.clear(),
  };
}
