// Which config the machines of a pool are to have: the newest, or one that they are held at.
import type { Hold, PoolFacts } from './facts.ts';

export interface Aim {
  /** Null: nothing was rendered yet. */
  readonly target: string | null;
  /** The annotation as it must be. */
  readonly held: string | null;
  readonly hold: Hold | null;
}

export function aimOf(pool: PoolFacts, now: number): Aim {
  const { held, newest } = pool;
  const hold = held === null ? null : holdOf(pool, held, now);
  if (held === null || hold === null || endsByRender(pool, hold)) return { target: newest, held: null, hold: null };
  return { target: held, held, hold };
}

/** Only `resume` ends what somebody wrote by hand: that it holds `instead` of nothing says so. */
function holdOf({ state }: PoolFacts, held: string, now: number): Hold {
  if (state !== null && state.target === held && state.hold !== null) return state.hold;
  const at = new Date(now).toISOString();
  return { kind: 'rollback', instead: null, at, why: 'the annotation slipway.dev/target-config was set by hand' };
}

const endsByRender = ({ policy, newest }: PoolFacts, { instead }: Hold): boolean =>
  policy.hold === 'until-new-render' && instead !== null && newest !== null && newest !== instead;

/** The way back to what the machines had: at once, and no machine that fails can make it worse. */
export const isWayBack = (hold: Hold | null): boolean => hold !== null && hold.kind !== 'rollback';

/** Null: it is the newest, and needs no holding. */
export function holdFor(
  { newest }: PoolFacts,
  target: string,
  { kind, now, why }: { kind: Hold['kind']; now: number; why: string },
): Hold | null {
  return target === newest ? null : { kind, instead: newest, at: new Date(now).toISOString(), why };
}
