// A lost snapshot, found again in what was rendered from it.
import type { MachineConfig } from '@slipway/api';
import { type AnyConfig, decodeDataUrl, type Fetcher, gunzip, gzip, parse } from '@slipway/ignition';
import { type PackedSnapshot, packSnapshot, snapshotDigest } from './pack.ts';
import { contentLimits, resolveContent } from './resolve-content.ts';

/** A file's contents in a config, as all spec versions have them. */
interface Contents {
  source?: string;
  compression?: string;
}

/** No connection is made, so no address is refused: what was allowed at the fetch may be forbidden by now. */
const anyHost = { allowAddresses: ['0.0.0.0/0', '::/0'] };

/**
 * Takes each remote file from the file of the same path in a rendered config. That may be another MachineConfig's, or
 * an older one, so only what gives the known digest is the snapshot. Configs that were merged by reference are not in a
 * rendered config any more: a MachineConfig that has them cannot be recovered.
 */
export async function recoverSnapshot(
  machineConfig: MachineConfig,
  digest: string,
  renderedConfigs: AsyncIterable<MachineConfig> | Iterable<MachineConfig>,
): Promise<PackedSnapshot | undefined> {
  const wanted = contentsByPath(machineConfig);
  for await (const rendered of renderedConfigs) {
    const fetch = fetcherFrom(wanted, contentsByPath(rendered));
    const resolved = await resolveContent(machineConfig, { fetch, hosts: anyHost, limits: contentLimits });
    if (resolved.ok && (await snapshotDigest(resolved.config)) === digest) return packSnapshot(resolved.config);
  }
  return undefined;
}

function contentsByPath({ spec }: MachineConfig): Map<string, Contents> {
  const config: AnyConfig | null = parse(spec?.config ?? {}).config;
  const found = new Map<string, Contents>();
  for (const { path, contents } of config?.storage?.files ?? []) {
    if (contents !== undefined) found.set(path, contents);
  }
  return found;
}

function fetcherFrom(wanted: Map<string, Contents>, rendered: Map<string, Contents>): Fetcher {
  const pathOf = new Map<string, string>();
  for (const [path, { source }] of wanted) pathOf.set(requestUrl(source ?? ''), path);
  return async ({ url }) => {
    const path = pathOf.get(url) ?? '';
    const contents = rendered.get(path);
    const bytes = contents === undefined ? undefined : await bytesFor(wanted.get(path), contents);
    return bytes === undefined ? { ok: false, problem: 'it is not in the rendered config' } : { ok: true, bytes };
  };
}

/** As a fetch names it: without the fragment, which no server sees. */
function requestUrl(source: string): string {
  const url = URL.parse(source);
  if (url === null) return '';
  url.hash = '';
  return url.href;
}

/** What the server sent: packed if the reference says so, whatever form the rendered config has it in. */
async function bytesFor(reference: Contents | undefined, { source = '', compression }: Contents) {
  const decoded = decodeDataUrl(source);
  if (!decoded.ok) return undefined;
  const isPacked = compression === 'gzip';
  if ((reference?.compression === 'gzip') === isPacked) return decoded.bytes;
  if (!isPacked) return gzip(decoded.bytes);
  const unpacked = await gunzip(decoded.bytes, { maxBytes: contentLimits.singleBytes });
  return unpacked.ok ? unpacked.bytes : undefined;
}
