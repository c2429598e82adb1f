// A customised stub that stays customised, with the way to the server of now.
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

/** From here on a reference can have headers and be compressed. */
const OLDEST = '3.1.0';
type Version = Exclude<SpecVersion3, '3.0.0'>;
type Config = ConfigOf<Version>;
type Resource = NonNullable<NonNullable<Config['ignition']['config']>['merge']>[number];

/** Where the server of a managed stub is: stubs that ask there are stubs of ours, whatever the port. */
export function serverOrigin(managedStub: string): string | null {
  const { config } = parse(managedStub, STUB_LIMITS);
  const [source] = config === null ? [] : mergedConfigs(config).map((reference) => reference.source);
  return source !== undefined && URL.canParse(source) ? new URL(source).origin : null;
}

/**
 * The customised stub with the source, CA and token of the managed one, and everything else as it was; of spec 3 where it
 * was of spec 2. A copy of the copy is the copy.
 */
export function managedCopy(customised: string, managedStub: string): CopiedStub {
  const ours = serverOrigin(managedStub);
  const managed = classifyStub(managedStub, ours);
  if (managed.type === 'unusable') return refused(`the managed stub cannot be used: ${managed.reason}`);
  const theirs = classifyStub(customised, ours);
  if (theirs.type === 'unusable') return refused(theirs.reason);
  if (theirs.role !== managed.role)
    return refused(`it is for machines of pool ${theirs.role}, and the managed stub for those of ${managed.role}`);
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
  'ignition.config: its reference to the machine config server has verification.hash, and what the server answers changes. Take the hash out';

/** The right to ask is the managed stub's; what else the reference sends was put there by somebody. */
function withServerHeaders(before: Resource, server: Resource): Resource {
  const own = (before.httpHeaders ?? []).filter(({ name }) => !isAuthorizationHeader(name));
  const { httpHeaders: given = [], ...rest } = server;
  const headers = [...given.filter(({ name }) => isAuthorizationHeader(name)), ...own];
  return { ...rest, ...(headers.length === 0 ? {} : { httpHeaders: headers }) };
}

const isAuthorizationHeader = (header: string): boolean => header.toLowerCase() === 'authorization';

/** The server's of now, and every other that is not the server's of some earlier day. */
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
    `with the CA and the token of now it would have ${text.length} bytes: at most ${STUB_LIMITS.size} are taken`,
  );
}

/**
 * Who signs the certificates of machine config servers: the installer's root, and the CA that rotates, with the number
 * of its key where it is ours. Whatever another name has was put there by somebody, for some other server.
 */
const SERVER_AUTHORITIES = [/^OU=openshift\nCN=root-ca$/, /^CN=machine-config-server-ca(?: [0-9a-f]{16})?$/];
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

interface AuthoritySource {
  readonly source?: string;
  readonly compression?: string;
}

/** Whether an entry of certificateAuthorities holds the server's CA and nothing else. What cannot be read is not it. */
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
