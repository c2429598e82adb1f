import { type Secret, secrets } from '@slipway/api';
import { isManaged, serverSecrets } from '@slipway/fleet';
import type { Context, Happening, Stored } from '@slipway/kube';
import { putSecret, textsIn } from '../managed-secret.ts';
import {
  type Authority,
  authorityData,
  type AuthorityData,
  authorityFields,
  makeAuthority,
  readAuthority,
  type ReadAuthority,
  rotateAuthority,
  validityOf,
  withoutExpired,
} from './authority.ts';
import { type AuthorityStep, type KeptAuthority, type Lifetime, nextAuthority } from './next-authority.ts';

export const fieldManager = 'slipway-certificates';

/**
 * The CA of now, made or rotated where it is time. Everything about a CA is in one Secret and so in one write: there is
 * no moment at which a new key exists without the signatures that old machines need.
 */
export async function keepAuthority(context: Context, namespace: string, policy: Lifetime): Promise<Authority> {
  const { client, events, log } = context;
  const name = { namespace, name: serverSecrets.authority };
  const stored = await client.find(secrets, name);
  const data = stored === undefined ? undefined : textsIn(stored, authorityFields);
  const read = data === undefined ? undefined : readAuthority(data);
  const now = context.now();
  const step = nextAuthority(keptAuthority(stored, data, read), now.getTime(), policy);
  const old = read?.ok === true ? read.authority : undefined;
  if (step.do === 'keep' && old !== undefined) return old;

  const authority = await carryOut(step, old, now, policy.validity);
  const written = await putSecret(
    client,
    stored,
    { name, type: 'kubernetes.io/tls', data: authorityData(authority) },
    fieldManager,
  );
  const happening = happeningOf(step, `Secret ${namespace}/${name.name}`, read);
  log[happening.type === 'Warning' ? 'warn' : 'info']({ reason: happening.reason }, happening.message);
  events.record(secrets, written, happening);
  return authority;
}

/** When something about this CA is due. */
export function authorityDue(authority: Authority, now: number, policy: Lifetime): number {
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
  validity: validityOf(authority.certificate),
  ends: [...authority.older, ...authority.crossSigned].map((pem) => validityOf(pem).to),
  untidy,
});

async function carryOut(
  step: AuthorityStep,
  old: Authority | undefined,
  now: Date,
  validity: number,
): Promise<Authority> {
  if (old === undefined || step.do === 'make') return makeAuthority(now, validity);
  return step.do === 'rotate' ? rotateAuthority(old, now, validity) : withoutExpired(old, now);
}

const cutOff =
  'Machines whose stub was made before trust only the CA that is gone: they do not boot until they get a stub of now (Secrets <pool>-user-data-managed)';

function happeningOf(step: AuthorityStep, secret: string, read: ReadAuthority | undefined): Happening {
  if (step.do === 'rotate') {
    return {
      type: 'Normal',
      reason: 'AuthorityRotated',
      message: `${secret}: a new CA was made and signed by the old one. Machines with the old stub still boot until the old CA expires`,
    };
  }
  if (step.do !== 'make') {
    return {
      type: 'Normal',
      reason: 'AuthorityPutInOrder',
      message: `${secret}: the CA stays; its bundle of CAs and signatures was put in order`,
    };
  }
  if (step.why === 'absent') {
    return { type: 'Normal', reason: 'AuthorityMade', message: `${secret} did not exist: a new CA was made` };
  }
  const why =
    read?.ok === false ? `${read.field}: ${read.problem}, found something else` : 'tls.crt: the CA has expired';
  return { type: 'Warning', reason: 'AuthorityLost', message: `${secret}: ${why}. A new CA was made. ${cutOff}` };
}
