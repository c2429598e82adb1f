// The name of a rendered config says what is in it.
import { type MachineConfig, renderedPrefix } from '@slipway/api';
import { canonicalJson } from './canonical-json.ts';

const NAME_DIGITS = 32;

/** `rendered-<pool>-<32 hex digits>`, of the spec before anything in it is packed: how gzip packs depends on the engine. */
export async function renderedName(pool: string, canonicalSpec: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', canonicalSpec);
  return `${renderedPrefix}${pool}-${new Uint8Array(digest).toHex().slice(0, NAME_DIGITS)}`;
}

/**
 * Whether a spec is what was rendered for a pool under this name. A spec with packed contents cannot be told from one that
 * was packed to fit into an object: it is taken for the one it says.
 */
export async function isRenderedAs(name: string, pool: string, spec: MachineConfig['spec']): Promise<boolean> {
  const json = canonicalJson(spec ?? {});
  if (json.includes('"compression":"gzip"')) return true;
  return name === (await renderedName(pool, new TextEncoder().encode(json)));
}
