import { crdNameOf } from '@slipway/api';
import type { Kind } from '@slipway/api';

export interface CrdStep {
  kind: Kind;
  name: string;
  /** `apply`: ours, brought up to date. `create`: somebody else's, and absent. `leave`: somebody else's, and there. */
  action: 'apply' | 'create' | 'leave';
}

/** What installing does to each CRD: those that the platform brings are made only where they are absent. */
export function planCrds(kinds: readonly Kind[], existing: ReadonlySet<string>): CrdStep[] {
  return kinds
    .filter((kind) => kind.install !== 'test')
    .map((kind) => {
      const name = crdNameOf(kind);
      if (kind.install === 'own') return { kind, name, action: 'apply' };
      return { kind, name, action: existing.has(name) ? 'leave' : 'create' };
    });
}
