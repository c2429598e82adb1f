import type { PodFacts } from '@slipway/fleet/drain';
import { describe, expect, it } from 'vitest';
import { isTimeToWarn, computeCheckDelay, computeRetryDelay } from './intervals.ts';
import { nextAttempt, type AttemptInput } from './empty-node.ts';
import { type Refusal, type SortedPods, sortPods } from './evict-pods.ts';

const MINUTE = 60_000;
const since = Date.parse('2026-01-02T03:00:00Z');

const pod = (name: string, more: Partial<PodFacts> = {}): PodFacts => ({
  namespace: 'shop',
  name,
  uid: name,
  labels: {},
  owner: null,
  endsAt: null,
  finalizers: [],
  ...more,
});
const refusal = (of: PodFacts, at: number, budgets = 'as they were'): Refusal => ({
  pod: of,
  at,
  budgets,
  byBudget: true,
  message: '',
});

function sorted(pods: PodFacts[], now: number, refused: Refusal[] = [], budgets = 'as they were') {
  const byUid = new Map(refused.map((each) => [each.pod.uid, each]));
  const { evict, leaving, stuck, held } = sortPods({ pods, refused: byUid, since, now, budgetsNow: () => budgets });
  const names = (list: readonly PodFacts[]): string => list.map(({ name }) => name).join(' ');
  return {
    evict: names(evict),
    leaving: names(leaving),
    stuck: names(stuck),
    held: names(held.map((each) => each.pod)),
  };
}
const nothing = { evict: '', leaving: '', stuck: '', held: '' };

describe('the pods of a node', () => {
  it('are evicted, except terminating ones, which are awaited', () => {
    const pods = [pod('a'), pod('b', { endsAt: since + MINUTE })];
    expect(sorted(pods, since)).toEqual({ ...nothing, evict: 'a', leaving: 'b' });
  });

  it('are stuck five minutes after the end of their grace period', () => {
    const pods = [pod('a', { endsAt: since })];
    expect(sorted(pods, since + 5 * MINUTE)).toMatchObject({ leaving: 'a' });
    expect(sorted(pods, since + 5 * MINUTE + 1)).toMatchObject({ stuck: 'a' });
  });

  it('that were refused are retried after a minute, and after ten minutes every five', () => {
    const a = pod('a');
    const early = [refusal(a, since + MINUTE)];
    expect(sorted([a], since + 2 * MINUTE - 1, early)).toEqual({ ...nothing, held: 'a' });
    expect(sorted([a], since + 2 * MINUTE, early)).toEqual({ ...nothing, evict: 'a' });
    const late = [refusal(a, since + 10 * MINUTE)];
    expect(sorted([a], since + 15 * MINUTE - 1, late)).toEqual({ ...nothing, held: 'a' });
    expect(sorted([a], since + 15 * MINUTE, late)).toEqual({ ...nothing, evict: 'a' });
  });

  it('that were refused are retried immediately when one of their budgets changed', () => {
    const a = pod('a');
    expect(sorted([a], since + 1, [refusal(a, since)], 'otherwise')).toEqual({ ...nothing, evict: 'a' });
  });

  it('with the name of a refused pod, but a new UID, are evicted', () => {
    const before = refusal(pod('a'), since);
    expect(sorted([pod('a', { uid: 'another' })], since + 1, [before])).toEqual({ ...nothing, evict: 'a' });
  });
});

describe('a drain is checked again', () => {
  const a = pod('a');
  const at = since + 20 * MINUTE;
  const none = { evict: [], leaving: [], stuck: [], held: [] };
  const wait = (some: Partial<SortedPods>, more: Partial<AttemptInput> = {}): number =>
    nextAttempt({ sorted: { ...none, ...some }, refused: [], since, now: at, last: undefined, ...more }).nextAt - at;

  it('after a second at first, less often as pods take longer, and after ten seconds at most', () => {
    expect([0, 5000, 20_000, 100_000, 3_600_000].map(computeCheckDelay)).toEqual([1000, 1000, 2000, 10_000, 10_000]);
    expect(wait({ evict: [a] })).toBe(1000);
    expect(wait({ leaving: [a] })).toBe(1000);
    const first = nextAttempt({ sorted: { ...none, evict: [a] }, refused: [], since, now: at, last: undefined });
    const second = nextAttempt({
      sorted: { ...none, leaving: [a] },
      refused: [],
      since,
      now: at + 50_000,
      last: first,
    });
    expect(second.nextAt - second.at).toBe(5000);
  });

  it('when a refused pod is due for a retry, even if it is the only one', () => {
    const now = [refusal(a, at)];
    expect(wait({ evict: [a] }, { refused: now })).toBe(5 * MINUTE);
    const before = [refusal(a, at - MINUTE)];
    expect(wait({ held: before }, { refused: before })).toBe(4 * MINUTE);
  });

  it('soon if some pods terminate while others are blocked', () => {
    expect(wait({ evict: [a, pod('b')] }, { refused: [refusal(a, at)] })).toBe(1000);
  });

  it('as rarely for a stuck pod as for a refused one', () => {
    expect(wait({ stuck: [a] })).toBe(5 * MINUTE);
    expect(wait({ stuck: [a] }, { since: at })).toBe(MINUTE);
    expect([0, 10 * MINUTE - 1, 10 * MINUTE].map(computeRetryDelay)).toEqual([MINUTE, MINUTE, 5 * MINUTE]);
  });

  it('and a warning is recorded after every full hour', () => {
    const told = (lookedAt: number | null, now: number): boolean =>
      isTimeToWarn(since, lookedAt === null ? null : since + lookedAt * MINUTE, since + now * MINUTE);
    expect(told(null, 59)).toBe(false);
    expect(told(55, 60)).toBe(true);
    expect(told(60, 65)).toBe(false);
    expect(told(115, 120)).toBe(true);
    // A new process does not know which warnings were recorded.
    expect(told(null, 90)).toBe(true);
  });
});
