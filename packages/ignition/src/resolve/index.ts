// resolve: embeds everything that a config references. The result has no remote reference, so every machine gets the
// same contents, whatever happens later to the servers they were fetched from.
import { encodeContents } from '../compression.ts';
import { encodeDataUrl } from '../data-url.ts';
import type { AnyConfig } from '../spec/index.ts';
import { validate } from '../validate/index.ts';
import type { HostPolicy } from './address.ts';
import { type Fetcher, type FetchSettings, NO_SETTINGS } from './fetcher.ts';
import { Budget, DEFAULT_LIMITS, type ResolveLimits } from './limits.ts';
import { load, type LoadContext, type Loaded } from './load.ts';
import { atField, type FieldLocation, type ResolveEntry, ResolveError } from './problem.ts';
import { render, type Rendered } from './render.ts';
import { type Slot, listSlots } from './slots.ts';

export interface ResolveOptions {
  /** The name of the config in messages, such as `MachineConfig 99-worker`. */
  name: string;
  /** The field of that object that has the config, such as `spec.config`: the start of every path. Default: none. */
  field?: string;
  fetch: Fetcher;
  /** Where contents may be fetched from. By default any host, but no loopback, link-local or metadata address. */
  hosts?: HostPolicy;
  limits?: Partial<ResolveLimits>;
  signal?: AbortSignal;
  /** Whether fetched contents may be stored as gzip if that is smaller. Default: yes. */
  compress?: boolean;
}

/**
 * The result has the spec version of the input, or the newest one among the configs merged into it.
 * `report` lists every failure with its code, field and URL; there is a config only if there is no failure.
 */
export interface Resolved {
  config: AnyConfig | null;
  report: ResolveEntry[];
}

export async function resolve(config: AnyConfig, options: ResolveOptions): Promise<Resolved> {
  const context = createLoadContext(options);
  const place: FieldLocation = { input: options.name, path: options.field ?? '', inside: [] };
  try {
    const rendered = await render(context, { config, place }, NO_SETTINGS);
    const resolved = structuredClone(rendered.config);
    const failures = await fillSlots(context, rendered, listSlots(resolved), options.compress ?? true);
    const report = failures.length > 0 ? failures : invalid(resolved, place);
    return { config: report.length > 0 ? null : resolved, report };
  } catch (failure) {
    if (!(failure instanceof ResolveError)) throw failure;
    return { config: null, report: [failure.entry] };
  }
}

/** The maximum of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function createLoadContext(options: ResolveOptions): LoadContext {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const timeout = AbortSignal.timeout(Math.min(Math.ceil(limits.timeMs), MAX_TIMER_MS));
  return {
    fetch: options.fetch,
    hosts: options.hosts ?? {},
    budget: new Budget(limits),
    signal: options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]),
    fetched: new Map(),
  };
}

/** Fetches a few concurrently, and all of them even if one fails: the author should see every failure in one run. */
async function fillSlots(
  context: LoadContext,
  rendered: Rendered,
  slots: Slot[],
  compress: boolean,
): Promise<ResolveEntry[]> {
  const findOrigin = createOriginLookup(rendered);
  const failures: (ResolveEntry | null)[] = [];
  const queue = slots.entries();
  const worker = async () => {
    for (const [index, slot] of queue) {
      failures[index] = await fillSlot(context, rendered.settings, slot, { place: findOrigin(slot), compress });
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, context.budget.limits.parallel) }, worker));
  return failures.filter((failure) => failure !== null);
}

async function fillSlot(
  context: LoadContext,
  settings: FetchSettings,
  slot: Slot,
  { place, compress }: { place: FieldLocation; compress: boolean },
): Promise<ResolveEntry | null> {
  try {
    const loaded = await load(context, settings, slot.reference, atField(place, 'source'));
    if (loaded.remote) await inline(slot, loaded, compress);
    return null;
  } catch (failure) {
    if (failure instanceof ResolveError) return failure.entry;
    throw failure;
  }
}

/** Replaces the reference with its contents. The hash stays: it covers the unpacked contents, which are the same. */
async function inline(slot: Slot, loaded: Loaded, compress: boolean): Promise<void> {
  const { reference } = slot;
  delete reference.httpHeaders;
  if (slot.holds === 'authority') {
    reference.source = encodeDataUrl(loaded.bytes);
    delete reference.compression;
  } else if ((reference.compression ?? '') !== '') {
    reference.source = encodeDataUrl(loaded.raw);
  } else {
    const encoded = compress ? await encodeContents(loaded.bytes) : { source: encodeDataUrl(loaded.bytes) };
    Object.assign(reference, encoded);
  }
}

/** Finds the field that contributed a slot to the result: that of the last merged config that has it. */
function createOriginLookup({ contributors }: Rendered): (slot: Slot) => FieldLocation {
  const origins = new Map<string, Map<string, FieldLocation>>();
  for (const { config, place } of contributors) {
    for (const { key, path, reference } of listSlots(config)) {
      const bySource = origins.get(key) ?? new Map<string, FieldLocation>();
      origins.set(key, bySource.set(reference.source ?? '', atField(place, path)));
    }
  }
  const start: FieldLocation = contributors[0]?.place ?? { input: '', path: '', inside: [] };
  return ({ key, path, reference }) => origins.get(key)?.get(reference.source ?? '') ?? atField(start, path);
}

/** Two valid configs can merge into an invalid one. */
function invalid(config: AnyConfig, place: FieldLocation): ResolveEntry[] {
  return validate(config)
    .filter((entry) => entry.kind === 'error')
    .map(({ path, message }) => {
      const problem = `the resolved config is not valid: ${message}`;
      return new ResolveError('SLW_RESOLVE_RESULT', atField(place, path), '', problem).entry;
    });
}
