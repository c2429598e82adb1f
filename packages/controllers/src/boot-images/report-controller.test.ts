import {
  bootImageConditions,
  type Change,
  type Decision,
  failedDecision,
  type Failures,
  type MachineResource,
  nextFailures,
} from '@slipway/fleet/boot-images';
import { describe, expect, it } from 'vitest';
import { createVerdictBoard } from './report-controller.ts';

const kind = { api: 'machine.openshift.io', kind: 'MachineSet' } as const;
const set = (name: string): MachineResource => ({ ...kind, namespace: 'machines', name });
const found = (name: string): Decision => ({
  verdict: {
    resource: set(name),
    platform: null,
    architecture: null,
    verdict: 'current',
    image: '',
    target: '',
    stub: { current: '', wanted: '' },
    why: '',
    code: null,
  },
  change: null,
  gate: null,
  version: null,
  toImport: null,
});

describe('the verdict board', () => {
  it('is complete for a kind when all announced resources have been checked', () => {
    const board = createVerdictBoard();
    expect(board.isComplete(kind)).toBe(false);
    board.put(found('early'));
    board.begin(kind, ['early', 'a', 'b'].map(set));
    board.put(found('a'));
    expect(board.isComplete(kind)).toBe(false);
    board.remove(set('b'));
    expect(board.isComplete(kind)).toBe(true);
    expect(board.isComplete({ ...kind, api: 'cluster.x-k8s.io' })).toBe(false);
  });

  it('is complete immediately if there are none', () => {
    const board = createVerdictBoard();
    board.begin(kind, []);
    expect(board.isComplete(kind)).toBe(true);
  });

  it('forgets resources that were deleted while another process led', () => {
    const board = createVerdictBoard();
    for (const name of ['a', 'gone']) board.put(found(name));
    board.begin(kind, [set('a')]);
    expect([...board.values()].map(({ verdict }) => verdict.resource.name)).toEqual(['a']);
  });

  it('notifies on changes, and when the last awaited resource has been checked', () => {
    const board = createVerdictBoard();
    let told = 0;
    board.onChange(() => (told += 1));
    board.begin(kind, [set('a')]);
    board.put(found('a'));
    board.put(found('a'));
    expect(told).toBe(2);
  });
});

describe('a write that fails for twelve minutes, and is retried all the time', () => {
  const MINUTE = 60_000;
  const MAX_RETRY_MS = 5 * MINUTE;
  const change: Change = { spec: null, userData: 'worker-user-data-managed', memory: '', image: '', version: '' };
  const pending: Decision = {
    ...found('a'),
    verdict: { ...found('a').verdict, verdict: 'update' },
    change,
  };

  /** The report, every minute and after each change of the board. */
  function watchReports() {
    const board = createVerdictBoard();
    let failures: Failures = new Map();
    const reports: { minute: number; degraded: string; isFailing: boolean }[] = [];
    const report = (now: number): void => {
      const decisions = [...board.values()];
      const verdicts = decisions.map(({ verdict }) => verdict);
      failures = nextFailures(failures, verdicts, now);
      const [, { status }] = bootImageConditions({ decisions, failures, notes: [], now });
      const isFailing = verdicts.some(({ verdict }) => verdict === 'failed');
      reports.push({ minute: Math.floor(now / MINUTE), degraded: status, isFailing });
    };
    return { board, reports, report };
  }

  it('becomes Degraded once, after five minutes, and recovers with the first success', () => {
    const { board, reports, report } = watchReports();
    let [now, wait] = [0, 1000];
    while (now < 12 * MINUTE) {
      board.announce(pending);
      report(now);
      board.put(failedDecision(pending, 'SLW_BOOT_IMAGES_WRITE', 'HTTP 403'));
      for (const end = now + wait; now < end; now = Math.min(end, now + MINUTE)) report(now);
      wait = Math.min(2 * wait, MAX_RETRY_MS);
    }
    const [first, ...later] = reports;
    expect(first).toMatchObject({ degraded: 'False', isFailing: false });
    expect(later.every(({ isFailing }) => isFailing)).toBe(true);
    const changes = later.filter(({ degraded }, at) => degraded !== later[at - 1]?.degraded);
    expect(changes).toMatchObject([
      { degraded: 'False', minute: 0 },
      { degraded: 'True', minute: 5 },
    ]);
    board.announce(pending);
    board.put(pending);
    board.put(found('a'));
    report(now);
    expect(reports.at(-1)).toMatchObject({ degraded: 'False', isFailing: false });
  });
});
