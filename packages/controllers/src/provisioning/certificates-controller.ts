import { type Secret, secrets } from '@slipway/api';
import {
  firstBootOptions,
  type FirstBootSettings,
  isManaged,
  serverAddress,
  serverSecrets,
  untilDue,
} from '@slipway/fleet';
import {
  type Authority,
  authorityData,
  type AuthorityData,
  authorityFields,
  type AuthorityStep,
  isIssuedBy,
  issueServing,
  type KeptAuthority,
  type KeptServing,
  type Lifetime,
  makeAuthority,
  names,
  nextAuthority,
  nextServing,
  readAuthority,
  type ReadAuthority,
  readServing,
  type ReadServing,
  refreshAt,
  rotateAuthority,
  type ServingCertificate,
  servingData,
  readValidity,
  withoutExpired,
} from '@slipway/base/certificates';
import { again, type Context, type ControllerDef, type EventInput, type Source, type Stored } from '@slipway/kube';
import { putSecret, textsIn } from '../managed-secret.ts';
import { findInfrastructure, infrastructureSource } from '../sources.ts';

const CERTIFICATES = 'certificates';

/**
 * Maintains the CA and the certificate of the machine config server. The CA's Secret is the source of truth and is
 * written first; the certificate is derived from it. After a stop between the two writes, the server continues with a
 * certificate of the previous CA, which every stub still trusts.
 *
 * Secrets are read live and watched by metadata only: they change a few times a year, and this way no cache contains
 * the CA's key.
 */
export function certificatesController(settings: FirstBootSettings): ControllerDef {
  const options = firstBootOptions(settings);
  const { namespace } = options;
  const watch = (name: string): Source => ({
    resource: secrets,
    as: 'metadata',
    namespace,
    fieldSelector: `metadata.name=${name}`,
    keysOf: () => [CERTIFICATES],
  });
  return {
    name: CERTIFICATES,
    reads: [
      watch(serverSecrets.authority),
      watch(serverSecrets.serving),
      { ...infrastructureSource, keysOf: () => [CERTIFICATES] },
    ],
    owns: [{ resource: secrets }],
    startsWith: [CERTIFICATES],
    async reconcile(_, context) {
      const authority = await keepAuthority(context, namespace, options.authority);
      const address = serverAddress(options, findInfrastructure(context.read));
      let due = authorityDue(authority, context.now().getTime(), options.authority);
      if (address === undefined) {
        context.log.warn(
          'the machine config server gets no certificate, because its address is unknown. Start the controller with --server-url https://HOST:22623 (on OpenShift the default is status.apiServerInternalURI of Infrastructure cluster)',
        );
      } else {
        due = Math.min(due, await keepServing(context, namespace, authority, address.hosts, options.serving));
      }
      return again(untilDue(due, context.now()));
    },
  };
}

/**
 * The current CA, created or rotated when due. Everything about a CA is in one Secret, so one write changes it: a new
 * key never exists without the signatures that old machines need.
 */
async function keepAuthority(context: Context, namespace: string, policy: Lifetime): Promise<Authority> {
  const { client, write, events, log } = context;
  const name = { namespace, name: serverSecrets.authority };
  const stored = await client.find(secrets, name);
  const data = stored === undefined ? undefined : textsIn(stored, authorityFields);
  const read = data === undefined ? undefined : readAuthority(data);
  const now = context.now();
  const step = nextAuthority(keptAuthority(stored, data, read), now.getTime(), policy);
  const old = read?.ok === true ? read.authority : undefined;
  if (step.do === 'keep' && old !== undefined) return old;

  const authority = await executeStep(step, old, now, policy.validity);
  const wanted = { name, type: 'kubernetes.io/tls', data: authorityData(authority) };
  const written = await putSecret(write, stored, wanted);
  const event = buildAuthorityEvent(step, `Secret ${namespace}/${name.name}`, read);
  log[event.type === 'Warning' ? 'warn' : 'info']({ reason: event.reason }, event.message);
  events.record(secrets, written, event);
  return authority;
}

/** When this CA needs work next. */
function authorityDue(authority: Authority, now: number, policy: Lifetime): number {
  const step = nextAuthority(usable(authority, false), now, policy);
  return step.do === 'keep' ? step.until : now;
}

function keptAuthority(
  stored: Stored<Secret> | undefined,
  data: AuthorityData | undefined,
  read: ReadAuthority | undefined,
): KeptAuthority {
  if (stored === undefined || data === undefined || read === undefined) return { state: 'absent' };
  if (!read.ok) return { state: 'unusable' };
  const wanted = authorityData(read.authority);
  const isOurs = isManaged(stored) && authorityFields.every((field) => (data[field] ?? '') === wanted[field]);
  return usable(read.authority, !isOurs);
}

const usable = (authority: Authority, untidy: boolean): KeptAuthority => ({
  state: 'usable',
  validity: readValidity(authority.certificate),
  ends: [...authority.older, ...authority.crossSigned].map((pem) => readValidity(pem).to),
  untidy,
});

async function executeStep(
  step: AuthorityStep,
  old: Authority | undefined,
  now: Date,
  validity: number,
): Promise<Authority> {
  if (old === undefined || step.do === 'make') return makeAuthority(now, validity);
  return step.do === 'rotate' ? rotateAuthority(old, now, validity) : withoutExpired(old, now);
}

const CUT_OFF =
  'Machines with an older stub trust only the lost CA. They do not boot until they get the current stub (Secrets <pool>-user-data-managed)';

function buildAuthorityEvent(step: AuthorityStep, secret: string, read: ReadAuthority | undefined): EventInput {
  if (step.do === 'rotate') {
    return {
      type: 'Normal',
      reason: 'AuthorityRotated',
      message: `${secret}: Slipway rotated the CA. The old CA signed the new one. Machines with the old stub still boot until the old CA expires`,
    };
  }
  if (step.do !== 'make') {
    return {
      type: 'Normal',
      reason: 'AuthorityPutInOrder',
      message: `${secret}: Slipway cleaned up the bundle of CAs and signatures. The CA did not change`,
    };
  }
  if (step.why === 'absent') {
    return { type: 'Normal', reason: 'AuthorityMade', message: `${secret} did not exist. Slipway created a new CA` };
  }
  const why =
    read?.ok === false ? `${read.field}: ${read.problem}, found something else` : 'tls.crt: the CA has expired';
  return {
    type: 'Warning',
    reason: 'AuthorityLost',
    message: `${secret}: ${why}. Slipway created a new CA. ${CUT_OFF}`,
  };
}

/** Keeps the server's certificate consistent with its CA and hosts; returns when to renew it. */
async function keepServing(
  context: Context,
  namespace: string,
  authority: Authority,
  hosts: readonly string[],
  policy: Lifetime,
): Promise<number> {
  const { client, write, events, log } = context;
  const name = { namespace, name: serverSecrets.serving };
  const stored = await client.find(secrets, name);
  const read = stored === undefined ? undefined : readServing(textsIn(stored, ['tls.crt', 'tls.key']));
  const now = context.now();
  const step = nextServing(keptServing(read, authority, hosts), now.getTime(), policy);
  if (step.do === 'keep') return step.until;

  const old = read?.ok === true ? read.serving : undefined;
  const serving: ServingCertificate =
    step.do === 'rechain' && old !== undefined
      ? { ...old, intermediates: authority.crossSigned }
      : await issueServing(authority, hosts, now, policy.validity);
  const wanted = { name, type: 'kubernetes.io/tls', data: servingData(serving) };
  const written = await putSecret(write, stored, wanted);
  const event = buildServingEvent(step.why, read, `Secret ${namespace}/${name.name}`, hosts);
  log[event.type === 'Warning' ? 'warn' : 'info']({ reason: event.reason }, event.message);
  events.record(secrets, written, event);
  return refreshAt(readValidity(serving.leaf), policy);
}

function keptServing(read: ReadServing | undefined, authority: Authority, hosts: readonly string[]): KeptServing {
  if (read === undefined) return { state: 'absent' };
  if (!read.ok) return { state: 'unusable' };
  const { serving } = read;
  return {
    state: 'usable',
    validity: readValidity(serving.leaf),
    issuedByAuthority: isIssuedBy(serving, authority),
    namesHosts: names(serving, hosts),
    hasIntermediates: serving.intermediates.join('') === authority.crossSigned.join(''),
  };
}

function buildServingEvent(
  why: keyof typeof reasons,
  read: ReadServing | undefined,
  secret: string,
  hosts: readonly string[],
): EventInput {
  const damage = read?.ok === false ? ` (${read.field}: ${read.problem}, found something else)` : '';
  return {
    type: damage === '' ? 'Normal' : 'Warning',
    reason: 'ServingCertificateRenewed',
    message: `${secret}: Slipway renewed the server's certificate for ${hosts.join(', ')}, because ${reasons[why]}${damage}`,
  };
}

const reasons = {
  absent: 'there was none',
  unusable: 'the stored one is not usable',
  authority: 'the CA changed',
  hosts: 'the names of the server changed',
  age: 'it was due for renewal',
  clock: 'it was not valid yet: it was signed while the clock of a controller was ahead',
  intermediates: 'its chain of CAs changed',
} as const;
