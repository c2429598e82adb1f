// Canonical JSON (RFC 8785), so that equal data has an equal hash. The RFC prescribes how JavaScript writes strings and
// numbers; only the order of the keys is left to do.
import { type MachineConfig, RENDERED_PREFIX } from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import { isRecord, type JsonRecord } from '@slipway/base/json';

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

/** `rendered-<pool>-<32 hex digits>`, of the spec before compression: gzip output depends on the engine. */
export function renderedName(pool: string, canonicalSpec: string | Uint8Array): string {
  return `${RENDERED_PREFIX}${pool}-${sha256(canonicalSpec).slice(0, NAME_DIGITS)}`;
}

/**
 * Whether a spec is what was rendered for a pool under this name. A spec with compressed contents cannot be checked,
 * because the hash covers the uncompressed ones: it is accepted.
 */
export function isRenderedAs(name: string, pool: string, spec: MachineConfig['spec']): boolean {
  const json = canonicalJson(spec ?? {});
  if (json.includes('"compression":"gzip"')) return true;
  return name === renderedName(pool, json);
}
