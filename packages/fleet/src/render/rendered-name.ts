// JSON in the one form of RFC 8785, so that equal data has equal bytes and so an equal hash. JavaScript's own way to write
// strings and numbers is the one the RFC prescribes; what is left is the order of the keys.
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
    // As for JSON.stringify, a field without a value is none.
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

// The name of a rendered config says what is in it.

const NAME_DIGITS = 32;

/** `rendered-<pool>-<32 hex digits>`, of the spec before anything in it is packed: how gzip packs depends on the engine. */
export function renderedName(pool: string, canonicalSpec: string | Uint8Array): string {
  return `${RENDERED_PREFIX}${pool}-${sha256(canonicalSpec).slice(0, NAME_DIGITS)}`;
}

/**
 * Whether a spec is what was rendered for a pool under this name. A spec with packed contents cannot be told from one that
 * was packed to fit into an object: it is taken for the one it says.
 */
export function isRenderedAs(name: string, pool: string, spec: MachineConfig['spec']): boolean {
  const json = canonicalJson(spec ?? {});
  if (json.includes('"compression":"gzip"')) return true;
  return name === renderedName(pool, json);
}
