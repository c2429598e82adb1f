import { type Secret, secrets } from '@slipway/api';
import { MANAGED_BY_SLIPWAY, MANAGED_BY_LABEL } from '@slipway/fleet';
import type { Name, Stored, Writer } from '@slipway/kube';

/** A desired Secret; `data` is plain text. */
export interface DesiredSecret {
  name: Name & { namespace: string };
  /** Set only at creation: the type is immutable, and readers of the data ignore it. */
  type: string;
  data: Readonly<Record<string, string>>;
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
}

/** Creates or updates the Secret, only on a difference. Labels and annotations of other clients stay. */
export async function putSecret(
  write: Writer,
  existing: Stored<Secret> | undefined,
  wanted: DesiredSecret,
): Promise<Stored<Secret>> {
  const data = Object.fromEntries(Object.entries(wanted.data).map(([key, text]) => [key, encode(text)]));
  const labels = { ...wanted.labels, [MANAGED_BY_LABEL]: MANAGED_BY_SLIPWAY };
  const { annotations = {} } = wanted;
  if (existing === undefined) {
    const metadata = { ...wanted.name, labels, annotations };
    return write.create(secrets, { metadata, type: wanted.type, data });
  }
  const { metadata } = existing;
  const isSo =
    sameKeys(existing.data ?? {}, data) &&
    holds(existing.data, data) &&
    holds(metadata.labels, labels) &&
    holds(metadata.annotations, annotations);
  if (isSo) return existing;
  const gone = Object.keys(existing.data ?? {}).filter((key) => !(key in data));
  const body = {
    metadata: { labels, annotations },
    data: { ...Object.fromEntries(gone.map((key) => [key, null])), ...data },
  };
  return write.patch(secrets, existing, body);
}

const holds = (all: Readonly<Record<string, string>> = {}, some: Readonly<Record<string, string>>): boolean =>
  Object.entries(some).every(([key, value]) => all[key] === value);

const sameKeys = (a: object, b: object): boolean => Object.keys(a).length === Object.keys(b).length;

const encode = (text: string): string => Buffer.from(text).toString('base64');

/** The plain text of one key; undefined if it is missing. */
export function textIn(secret: Secret, key: string): string | undefined {
  const value = secret.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}

/** Only those of the requested keys that exist. */
export const textsIn = <K extends string>(secret: Secret, keys: readonly K[]): Partial<Record<K, string>> =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const text = textIn(secret, key);
      return text === undefined ? [] : [[key, text]];
    }),
  ) as Partial<Record<K, string>>;
