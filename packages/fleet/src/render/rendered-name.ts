// Canonical JSON (RFC 8785), so that equal data has an equal hash. The RFC prescribes how JavaScript writes strings and
// numbers; only the order of the keys is left to do.
import { type MachineConfig, RENDERED_PREFIX } from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import { isRecord, type JsonRecord } from '@slipway/base/json';
import { decodeDataUrl, gunzip } from '@slipway/ignition';

export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return writeList(value);
  if (isRecord(value)) return writeObject(value);
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`JSON cannot hold the number ${value}`);
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`JSON cannot hold a value of type ${typeof value}`);
  return text;
}

function writeObject(value: JsonRecord): string {
  let text = '';
  for (const name of Object.keys(value).sort()) {
    const field = value[name];
    // Like JSON.stringify: an undefined field is omitted.
    if (field === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(field)}`;
  }
  return `{${text}}`;
}

function writeList(items: readonly unknown[]): string {
  let text = '';
  for (let index = 0; index < items.length; index += 1) {
    text += index === 0 ? canonicalJson(items[index]) : `,${canonicalJson(items[index])}`;
  }
  return `[${text}]`;
}

// The name of a rendered config is a hash of its contents.

const NAME_DIGITS = 32;

/** `rendered-<pool>-<32 hex digits>` */
export function renderedName(pool: string, canonicalSpec: string | Uint8Array): string {
  return `${RENDERED_PREFIX}${pool}-${sha256(canonicalSpec).slice(0, NAME_DIGITS)}`;
}

/**
 * The name of a spec that is too large to be stored without compression. It covers a digest of each file's contents
 * instead of the contents, because gzip output depends on the engine.
 */
export const nameByDigests = async (pool: string, spec: JsonRecord): Promise<string> =>
  renderedName(pool, canonicalJson(await digestContents(spec)));

/** Far above what a machine needs in one file. Larger contents are covered in the form in which they are stored. */
const MAX_CONTENTS_BYTES = 64 * 1024 * 1024;

/** The same value, with a digest for each `source` that is a data URL, whether it is compressed or not. */
async function digestContents(value: unknown): Promise<unknown> {
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    // One after the other, so that only one file is in memory.
    for (const item of value) items.push(await digestContents(item));
    return items;
  }
  if (!isRecord(value)) return value;
  const digest = await digestSource(value);
  if (digest !== null) return digest;
  const fields: JsonRecord = {};
  for (const [name, field] of Object.entries(value)) fields[name] = await digestContents(field);
  return fields;
}

async function digestSource({ source, compression, ...rest }: JsonRecord): Promise<JsonRecord | null> {
  const decoded = typeof source === 'string' && source.startsWith('data:') ? decodeDataUrl(source) : null;
  if (decoded === null || !decoded.ok) return null;
  const plain = compression === 'gzip' ? await gunzip(decoded.bytes, { maxBytes: MAX_CONTENTS_BYTES }) : decoded;
  return plain.ok ? { ...rest, source: `sha256:${sha256(plain.bytes)}` } : null;
}

/** Whether a spec is what was rendered for a pool under this name. */
export async function isRenderedAs(name: string, pool: string, spec: MachineConfig['spec']): Promise<boolean> {
  const json = canonicalJson(spec ?? {});
  if (name === renderedName(pool, json)) return true;
  return json.includes('"compression":"gzip"') && name === (await nameByDigests(pool, { ...spec }));
}

/** Whether a config is named as one of this pool. Pool worker must not get a config of pool worker-gpu. */
export function isRenderedFor(pool: string, name: string): boolean {
  const prefix = `${RENDERED_PREFIX}${pool}-`;
  return name.startsWith(prefix) && /^[^-/\s]+$/.test(name.slice(prefix.length));
}
