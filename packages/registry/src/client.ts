import { systemClock } from '@slipway/base/clock';
import { createRequester, type Image, type RegistryClock } from './requester.ts';
import { createAuthorizer } from './authorization.ts';
import { RegistryError } from './errors.ts';
import { createFileReader } from './image-file.ts';
import { createDocuments } from './manifest.ts';
import { listPullSources } from './pull-sources.ts';
import { formatReference, formatName, parseReference } from './reference.ts';
import type { Platform, Registry, RegistryOptions, RegistryRules } from './registry.ts';
import { createTransport } from './transport.ts';

/** The time limit for a small document, as a multiple of silenceMs. */
const DOCUMENT_SILENCES = 4;

const defaults = {
  silenceMs: 30_000,
  retries: 4,
  atOnce: 4,
  layerMs: 3_600_000,
  layerBytes: 20 * 1024 ** 3,
};

export function createRegistry(options: RegistryOptions & RegistryRules, clock: RegistryClock = systemClock): Registry {
  const { silenceMs, retries, atOnce, layerMs, layerBytes } = withDefaults(options);
  const mirrors = options.mirrors ?? [];
  const plainHttp = new Set((options.plainHttp ?? []).map((host) => host.toLowerCase()));
  const timeoutMs = silenceMs * DOCUMENT_SILENCES;
  const closing = new AbortController();
  const transport = createTransport({
    silenceMs,
    ca: options.ca,
    plainHttp: listPlainHttpHosts(options),
    redirectRule: options.redirectRule,
  });
  const authorizer = createAuthorizer({
    credentials: options.credentials ?? new Map(),
    transport,
    clock,
    signal: () => AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]),
  });
  const ask = createRequester({ transport, authorizer, atOnce, clock, retries });
  const documents = createDocuments({ ask, platform: options.platform ?? ownPlatform(), timeoutMs });
  const readFile = createFileReader({ ask, layerMs, layerBytes });

  function open(text: string, signal: AbortSignal | undefined): { image: Image; name: string; revision: string } {
    const reference = parseReference(text);
    const places = listPullSources(reference, { mirrors, plainHttp });
    const both = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
    both.throwIfAborted();
    const image: Image = { reference: formatReference(reference), places, signal: both };
    return { image, name: formatName(reference), revision: reference.digest ?? reference.tag ?? '' };
  }

  return {
    async inspect(text, { signal } = {}) {
      const { image, name, revision } = open(text, signal);
      const { named, digest, manifest } = await documents.manifestOf(image, revision);
      const { platform, labels } = await documents.configOf(image, manifest.config);
      const size = manifest.layers.reduce((sum, layer) => sum + layer.size, manifest.config.size);
      return { reference: `${name}@${named}`, digest, platform, labels, layers: manifest.layers, size };
    },
    async layers(text, { signal } = {}) {
      const { image, revision } = open(text, signal);
      return (await documents.manifestOf(image, revision)).manifest.layers;
    },
    async readFile(text, path, { signal, maxBytes }) {
      const { image, revision } = open(text, signal);
      const { manifest } = await documents.manifestOf(image, revision);
      return readFile(image, { path, maxBytes, layers: manifest.layers });
    },
    async close() {
      closing.abort(new RegistryError('SLW_REGISTRY_CLOSED', 'the registry client was closed during a request'));
      await transport.close();
    },
  };
}

/** An undefined option counts as omitted. */
function withDefaults(options: RegistryOptions): typeof defaults {
  const given = Object.entries(options).filter(([name, value]) => name in defaults && value !== undefined);
  const all: typeof defaults = Object.assign({ ...defaults }, Object.fromEntries(given));
  for (const [name, value] of Object.entries(all)) {
    if (!Number.isFinite(value) || value < (name === 'retries' ? 0 : 1)) {
      const text = `registry option ${name}: expected a number above 0, found ${value}`;
      throw new RegistryError('SLW_REGISTRY_OPTIONS', text);
    }
  }
  return all;
}

/** As written in URLs, without the default port. */
function listPlainHttpHosts({ plainHttp = [], mirrors = [] }: RegistryOptions): ReadonlySet<string> {
  const locations = mirrors
    .flatMap((rule) => rule.mirrors)
    .flatMap((mirror) => (mirror.plainHttp ? [mirror.location] : []));
  return new Set([...plainHttp, ...locations].flatMap((host) => URL.parse(`http://${host}`)?.host ?? []));
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ppc64: 'ppc64le', ia32: '386' };

const ownPlatform = (): Platform => ({ os: 'linux', architecture: architectures[process.arch] ?? process.arch });
