// Classifies user data: does it only point to the machine config server, or does it do more?
import { type AnyConfig, parse, type Report, type ReportEntry, validate } from '@slipway/ignition';

/** Platforms limit user data to 16 to 256 KiB, and a Secret to 1 MiB. */
export const STUB_LIMITS = { size: 256 * 1024, depth: 50, values: 20_000 } as const;

export type StubClass =
  /** As the installer writes it: the reference to the server and its CA, nothing else. */
  | { readonly type: 'plain'; readonly role: string; readonly config: AnyConfig }
  /** As we write it. */
  | { readonly type: 'managed'; readonly role: string; readonly config: AnyConfig }
  /** A user has added something. */
  | { readonly type: 'customised'; readonly role: string; readonly config: AnyConfig }
  | { readonly type: 'unusable'; readonly reason: string };

/** `ours`: origin of the managed stub's server; a stub with that origin is recognised, whatever the port. */
export function classifyStub(text: string, ours: KnownServer = null): StubClass {
  const { config, report } = parse(text, STUB_LIMITS);
  if (config === null) return { type: 'unusable', reason: formatReason(report) };
  const findings = validate(config);
  if (findings.some(({ kind }) => kind === 'error')) return { type: 'unusable', reason: formatReason(findings) };
  return classifyConfig(config, ours);
}

function classifyConfig(config: AnyConfig, ours: KnownServer): StubClass {
  if (config.ignition.config?.replace !== undefined) return { type: 'unusable', reason: REPLACES };
  const [reference, ...further] = mergedConfigs(config).flatMap(({ source }) => serverReference(source, ours) ?? []);
  if (reference === undefined) return { type: 'unusable', reason: NO_REFERENCE };
  if (further.length > 0) return { type: 'unusable', reason: MANY_REFERENCES };
  const { role } = reference;
  if (hasMore(config) || !reference.plain) return { type: 'customised', role, config };
  return { type: isGzip(config) ? 'managed' : 'plain', role, config };
}

const NO_REFERENCE =
  'expected one reference to a machine config server, https://HOST:22623/config/POOL, found none: the config source of these machines is unknown';
const MANY_REFERENCES =
  'expected one reference to a machine config server, found several: it is unclear which one the machines use';

const REPLACES =
  'ignition.config.replace: it would override everything else in the stub. Move the reference to ignition.config.merge';

/** The first error. Quoted text may be a secret and is masked, except for the version. */
export function formatReason(report: Report): string {
  const errors = report.filter(({ kind }) => kind === 'error');
  const [first] = errors;
  if (first === undefined) return 'it is invalid';
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return `${first.path === '' ? '' : `${first.path}: `}${unquoted(first)}${more}`;
}

const unquoted = ({ path, message }: ReportEntry): string =>
  path === 'ignition.version' ? message : message.replace(/"(?:[^"\\]|\\.)*"/g, '"…"');

interface Reference {
  readonly source?: string;
  readonly compression?: string;
  readonly verification?: { readonly hash?: string };
  readonly httpHeaders?: readonly { readonly name: string; readonly value?: string }[];
}

/** In spec 2 the list is named append. */
export function mergedConfigs({ ignition: { config = {} } }: AnyConfig): readonly Reference[] {
  if ('merge' in config) return config.merge ?? [];
  return 'append' in config ? (config.append ?? []) : [];
}

/** Anything in addition to one reference with its authorization header, and one CA. */
function hasMore(config: AnyConfig): boolean {
  const { ignition, ...sections } = config;
  const { version: _version, config: _configs, security, ...settings } = ignition;
  const authorities: readonly Reference[] = security?.tls?.certificateAuthorities ?? [];
  const merged = mergedConfigs(config);
  return (
    holdsAnything(sections) ||
    holdsAnything(settings) ||
    merged.length !== 1 ||
    merged.some(hasOwnSettings) ||
    authorities.length > 1 ||
    authorities.some((authority) => hasOwnSettings(authority) || !(authority.source ?? '').startsWith('data:'))
  );
}

const hasOwnSettings = ({ verification, httpHeaders = [] }: Reference): boolean =>
  holdsAnything(verification) || httpHeaders.some(({ name }) => name.toLowerCase() !== 'authorization');

const isGzip = (config: AnyConfig): boolean => mergedConfigs(config).some(({ compression }) => compression === 'gzip');

/** Installers write empty sections, lists and strings for absent values. */
function holdsAnything(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (typeof value !== 'object') return true;
  return Object.values(value).some(holdsAnything);
}

// The reference of a stub to the machine config server: it determines the pool that a new machine joins.

/** The port of every machine config server. */
const SERVER_PORT = '22623';
const CONFIG_PATH = /^\/config\/([^/]+)$/;
/** Pool names are part of Secret names. */
const POOL_NAME = /^[a-z0-9](?:[-.a-z0-9]{0,200}[a-z0-9])?$/;

interface ServerReference {
  /** The pool whose config is fetched, or its role. */
  readonly role: string;
  /** For example https://api-int.example.com:22623. */
  readonly origin: string;
  /** It requests only the config, or its gzip form. */
  readonly plain: boolean;
}

type KnownServer = string | null;

/**
 * Null if the source is something else. The host proves nothing: it is a name on some platforms and a virtual IP on
 * others, and both stay valid. The port does, and so does the origin of the managed stub: `ours`, or `any` while that
 * is unknown.
 */
export function serverReference(source: string | undefined, ours: KnownServer = null): ServerReference | null {
  if (source === undefined || !URL.canParse(source)) return null;
  const url = new URL(source);
  const role = isPlainHttps(url) ? (CONFIG_PATH.exec(url.pathname)?.[1] ?? '') : '';
  if (!POOL_NAME.test(role) || !isServer(url, ours)) return null;
  return { role, origin: url.origin, plain: url.search === '' || url.search === '?compression=gzip' };
}

const isPlainHttps = ({ protocol, username, password, hash }: URL): boolean =>
  protocol === 'https:' && username === '' && password === '' && hash === '';

const isServer = ({ port, origin }: URL, ours: KnownServer): boolean =>
  port === SERVER_PORT || ours === 'any' || origin === ours;
