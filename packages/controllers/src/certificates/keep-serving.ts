import { secrets } from '@slipway/api';
import { serverSecrets } from '@slipway/fleet';
import type { Context, Happening } from '@slipway/kube';
import { putSecret, textsIn } from '../managed-secret.ts';
import { type Authority, validityOf } from './authority.ts';
import { fieldManager } from './keep-authority.ts';
import { type Lifetime, refreshAt } from './next-authority.ts';
import { type KeptServing, nextServing } from './next-serving.ts';
import {
  isIssuedBy,
  issueServing,
  names,
  readServing,
  type ReadServing,
  type ServingCertificate,
  servingData,
} from './serving-certificate.ts';

/** Keeps the server's certificate in step with its CA and its hosts; returns when it is to be renewed. */
export async function keepServing(
  context: Context,
  namespace: string,
  authority: Authority,
  hosts: readonly string[],
  policy: Lifetime,
): Promise<number> {
  const { client, events, log } = context;
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
  const written = await putSecret(client, stored, wanted, fieldManager);
  const happening = happeningOf(step.why, read, `Secret ${namespace}/${name.name}`, hosts);
  log[happening.type === 'Warning' ? 'warn' : 'info']({ reason: happening.reason }, happening.message);
  events.record(secrets, written, happening);
  return refreshAt(validityOf(serving.leaf), policy);
}

function happeningOf(
  why: keyof typeof reasons,
  read: ReadServing | undefined,
  secret: string,
  hosts: readonly string[],
): Happening {
  const damage = read?.ok === false ? ` (${read.field}: ${read.problem}, found something else)` : '';
  return {
    type: damage === '' ? 'Normal' : 'Warning',
    reason: 'ServingCertificateRenewed',
    message: `${secret}: the server's certificate for ${hosts.join(', ')} was renewed, because ${reasons[why]}${damage}`,
  };
}

const reasons = {
  absent: 'there was none',
  unusable: 'what was there cannot be used',
  authority: 'the CA is a new one',
  hosts: 'the names of the server have changed',
  age: 'of its age',
  intermediates: 'the CAs that it leads to have changed',
} as const;

function keptServing(read: ReadServing | undefined, authority: Authority, hosts: readonly string[]): KeptServing {
  if (read === undefined) return { state: 'absent' };
  if (!read.ok) return { state: 'unusable' };
  const { serving } = read;
  return {
    state: 'usable',
    validity: validityOf(serving.leaf),
    issuedByAuthority: isIssuedBy(serving, authority),
    namesHosts: names(serving, hosts),
    hasIntermediates: serving.intermediates.join('') === authority.crossSigned.join(''),
  };
}
