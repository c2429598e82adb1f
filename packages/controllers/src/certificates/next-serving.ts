import { refreshAt } from './next-authority.ts';
import type { Lifetime } from './next-authority.ts';
import type { Validity } from './signature.ts';

/** What is kept of the server's certificate now. */
export type KeptServing =
  | { state: 'absent' }
  | { state: 'unusable' }
  | {
      state: 'usable';
      validity: Validity;
      /** By the CA of now, not by one before it. */
      issuedByAuthority: boolean;
      namesHosts: boolean;
      /** It comes with the intermediates that machines under older CAs need, and no others. */
      hasIntermediates: boolean;
    };

export type ServingStep =
  | { do: 'issue'; why: 'absent' | 'unusable' | 'authority' | 'hosts' | 'age' }
  | { do: 'rechain'; why: 'intermediates' }
  | { do: 'keep'; until: number };

export function nextServing(kept: KeptServing, now: number, policy: Lifetime): ServingStep {
  if (kept.state !== 'usable') return { do: 'issue', why: kept.state };
  if (!kept.issuedByAuthority) return { do: 'issue', why: 'authority' };
  if (!kept.namesHosts) return { do: 'issue', why: 'hosts' };
  const due = refreshAt(kept.validity, policy);
  if (due <= now) return { do: 'issue', why: 'age' };
  return kept.hasIntermediates ? { do: 'keep', until: due } : { do: 'rechain', why: 'intermediates' };
}
