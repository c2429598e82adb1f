import { backdatedMs } from './signature.ts';
import type { Validity } from './signature.ts';

/** All in milliseconds. */
export interface Lifetime {
  validity: number;
  /** The age at which it is replaced. */
  refresh: number;
}

/** What is kept of a CA now. */
export type KeptAuthority =
  | { state: 'absent' }
  | { state: 'unusable' }
  | {
      state: 'usable';
      validity: Validity;
      /** When each of the earlier CAs and cross-signed certificates ends. */
      ends: readonly number[];
      /** It is stored in another form than ours: adopted, or changed by hand. */
      untidy: boolean;
    };

export type AuthorityStep =
  | { do: 'make'; why: 'absent' | 'unusable' | 'expired' }
  | { do: 'rotate' }
  | { do: 'tidy' }
  | { do: 'keep'; until: number };

export function nextAuthority(kept: KeptAuthority, now: number, policy: Lifetime): AuthorityStep {
  if (kept.state !== 'usable') return { do: 'make', why: kept.state };
  // Nobody believes an expired CA, so its signature under a new one is worth nothing.
  if (kept.validity.to <= now) return { do: 'make', why: 'expired' };
  const due = refreshAt(kept.validity, policy);
  if (due <= now) return { do: 'rotate' };
  if (kept.untidy || kept.ends.some((end) => end <= now)) return { do: 'tidy' };
  return { do: 'keep', until: Math.min(due, ...kept.ends) };
}

/**
 * For what we made under this policy the two are the same moment. What was made under another one (a longer life, by
 * somebody else) is replaced at the age of this policy, and always with as much life left as this policy promises.
 */
export const refreshAt = ({ from, to }: Validity, { validity, refresh }: Lifetime): number =>
  Math.min(from + backdatedMs + refresh, to - (validity - refresh));
