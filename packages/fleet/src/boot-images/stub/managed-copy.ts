// A customised stub that keeps its customisation, with the current address of the server.
import { readSubject } from '@slipway/base/certificates/subject';
import {
  type AnyConfig,
  type ConfigOf,
  decodeDataUrl,
  parse,
  SPEC_VERSIONS,
  type SpecVersion3,
  translate,
  validate,
} from '@slipway/ignition';
import { classifyStub, mergedConfigs, formatReason, serverReference, STUB_LIMITS } from './classify-stub.ts';

export type CopiedStub = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

/** The first version whose references can have headers and be compressed. */
const OLDEST = '3.1.0';
type Version = Exclude<SpecVersion3, '3.0.0'>;
type Config = ConfigOf<Version>;
type Resource = NonNullable<NonNullable<Config['ignition']['config']>['merge']>[number];

/** Origin of the server in a managed stub: stubs with this origin are recognised, whatever the port. */
export function serverOrigin(managedStub: string): string | null {
  const { config } = parse(managedStub, STUB_LIMITS);
  const [source] = config === null ? [] : mergedConfigs(config).map((reference) => reference.source);
  return source !== undefined && URL.canParse(source) ? new URL(source).origin : null;
}

/**
 * The customised stub with the source, CA and token of the managed one; everything else stays. Spec 2 becomes spec 3.
 * Idempotent: copying the copy changes nothing.
 */
export function managedCopy(customised: string, managedStub: string): CopiedStub {
  const ours = serverOrigin(managedStub);
  const managed = classifyStub(managedStub, ours);
  if (managed.type === 'unusable') return refused(`the managed stub is unusable: ${managed.reason}`);
  const theirs = classifyStub(customised, ours);
  if (theirs.type === 'unusable') return refused(theirs.reason);
  if (theirs.role !== managed.role)
    return refused(`it is for pool ${theirs.role}, but the managed stub is for pool ${managed.role}`);
  const version = newest(theirs.config, managed.config);
  const [base, source] = [translate(theirs.config, version), translate(managed.config, version)];
  if (base.config === null) return refused(formatReason(base.report));
  if (source.config === null) return refused(formatReason(source.report));
  return written(base.config, source.config, ours);
}

const refused = (reason: string): CopiedStub => ({ ok: false, reason });

function newest(...configs: readonly AnyConfig[]): Version {
  const versions = SPEC_VERSIONS.filter(
    (version): version is Version => SPEC_VERSIONS.indexOf(version) >= SPEC_VERSIONS.indexOf(OLDEST),
  );
  return versions.findLast((version) => configs.some(({ ignition }) => ignition.version === version)) ?? OLDEST;
}

function written(theirs: Config, managed: Config, ours: string | null): CopiedStub {
  const isServer = ({ source }: Resource): boolean => serverReference(source, ours) !== null;
  const [server] = mergedIn(managed);
  const merge = mergedIn(theirs);
  const before = merge.find(isServer);
  if (server === undefined || before === undefined) return refused('it has no reference to the machine config server');
  if ((before.verification?.hash ?? '') !== '') return refused(PINNED);
  const now = withServerHeaders(before, server);
  return checked(
    withIgnition(theirs, {
      config: { merge: merge.map((each) => (isServer(each) ? now : each)) },
      security: { tls: { certificateAuthorities: authorities(theirs, managed) } },
    }),
  );
}

const mergedIn = ({ ignition }: Config): readonly Resource[] => ignition.config?.merge ?? [];

const PINNED =
  'ignition.config: the reference to the machine config server has verification.hash, but the response of the server changes over time. Remove the hash';

/** The authorization header comes from the managed stub; all other headers are the user's. */
function withServerHeaders(before: Resource, server: Resource): Resource {
  const own = (before.httpHeaders ?? []).filter(({ name }) => !isAuthorizationHeader(name));
  const { httpHeaders: given = [], ...rest } = server;
  const headers = [...given.filter(({ name }) => isAuthorizationHeader(name)), ...own];
  return { ...rest, ...(headers.length === 0 ? {} : { httpHeaders: headers }) };
}

const isAuthorizationHeader = (header: string): boolean => header.toLowerCase() === 'authorization';

/** The current CA of the server, and all others except earlier CAs of the server. */
function authorities(theirs: Config, managed: Config): Resource[] {
  const now = managed.ignition.security?.tls?.certificateAuthorities ?? [];
  const own = (theirs.ignition.security?.tls?.certificateAuthorities ?? []).filter(
    (each) => !isServerAuthority(each) && !now.some(({ source }) => source === each.source),
  );
  return [...now, ...own];
}

function withIgnition<C extends Config>(config: C, changed: Pick<C['ignition'], 'config' | 'security'>): C {
  return { ...config, ignition: { ...config.ignition, ...changed } };
}

function checked(config: Config): CopiedStub {
  const report = validate(config);
  if (report.some(({ kind }) => kind === 'error')) return refused(formatReason(report));
  const text = JSON.stringify(config);
  if (text.length <= STUB_LIMITS.size) return { ok: true, text };
  return refused(
    `with the current CA and token it would have ${text.length} bytes, but at most ${STUB_LIMITS.size} are allowed`,
  );
}

/**
 * The issuers of machine config server certificates: the installer's root CA, and the rotating CA, with the number of
 * its key if it is ours. A CA with any other name was added by a user for another server.
 */
const SERVER_AUTHORITIES = [/^OU=openshift\nCN=root-ca$/, /^CN=machine-config-server-ca(?: [0-9a-f]{16})?$/];
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

interface AuthoritySource {
  readonly source?: string;
  readonly compression?: string;
}

/** Whether an entry of certificateAuthorities contains only the server's CA. An unreadable entry does not. */
function isServerAuthority({ source, compression }: AuthoritySource): boolean {
  if (source === undefined || (compression ?? '') !== '') return false;
  const decoded = decodeDataUrl(source);
  if (!decoded.ok) return false;
  const certificates = new TextDecoder().decode(decoded.bytes).match(CERTIFICATE) ?? [];
  return certificates.length > 0 && certificates.every(isOfServer);
}

function isOfServer(pem: string): boolean {
  const subject = readSubject(pem);
  return subject !== null && SERVER_AUTHORITIES.some((name) => name.test(subject));
}
