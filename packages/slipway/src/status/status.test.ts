import { describe, expect, it } from 'vitest';
import { paintFor } from '../cli/terminal.ts';
import { newConfig, nodeReport, oldConfig, poolReport, buildStatusReport, waiting } from './sample-report.ts';
import { changeLines, statusText } from './status.ts';

const draining = nodeReport('worker-0', {
  phase: 'updating',
  step: 'draining',
  current: oldConfig,
  isUnavailable: true,
  why: 'it was given the target',
  blockedBy: 'pod shop/web-1: budget shop/web allows no disruption',
});

describe('the text of slipway status', () => {
  it('shows a pool with its progress, wave, time left and nodes', () => {
    const text = statusText(buildStatusReport([poolReport([draining, waiting('worker-1'), nodeReport('worker-2')])]));
    expect(text).toBe(
      [
        'worker: updating  rendered-worker-22222222…',
        '  [#######-------------] 1 of 3 updated, 1 ready, 1 unavailable (at most 1), 0 degraded',
        '  wave 1 of 2, up to 1 machine, about 4 min left',
        '  worker-0 goes first',
        '',
        '  NODE      PHASE     STEP      CONFIG                     WHY',
        '  worker-0  updating  draining  rendered-worker-11111111…  it was given the target (pod shop/web-1: budget shop/web allows no disruption)',
        '  worker-1  waiting   -         rendered-worker-11111111…  its wave has not started',
        '  worker-2  updated   -         rendered-worker-22222222…',
        '',
      ].join('\n'),
    );
  });

  it('wraps sentences at the width of the terminal, but not the table', () => {
    const summary = 'the first part of a sentence, and the second part of it';
    const text = statusText(buildStatusReport([poolReport([draining], { summary })]), { width: 40 });
    expect(text).toContain('\n  the first part of a sentence, and the\n  second part of it\n');
    expect(text).toContain('pod shop/web-1: budget shop/web allows no disruption)\n');
  });

  it('counts the nodes of a large pool and lists only those that are updating or need attention', () => {
    const many = Array.from({ length: 100 }, (_, number) => waiting(`worker-${number + 1}`));
    const report = buildStatusReport([poolReport([draining, ...many, nodeReport('done-1')])]);
    const text = statusText(report);
    expect(text).toContain('  nodes: 1 updating, 100 waiting, 1 updated\n');
    expect(text).toContain('worker-0  updating');
    expect(text).not.toContain('worker-7');
    expect(statusText(report, { allNodes: true })).toContain('worker-7 ');
  });

  it('counts the rest if hundreds of nodes are updating', () => {
    const many = Array.from({ length: 300 }, (_, number) => ({ ...draining, name: `worker-${number}` }));
    expect(statusText(buildStatusReport([poolReport(many)]))).toContain('… and 250 more; --all-nodes shows every node');
  });

  it('shows first that all rollouts are stopped, why, and how to continue', () => {
    expect(statusText(buildStatusReport([poolReport([])], { stopped: 'storage maintenance' }))).toMatch(
      /^All rollouts are stopped: storage maintenance\. To continue: slipway resume --all\n/,
    );
  });

  it('shows why the target is not the newest, an unanswered request, and invalid settings', () => {
    const pool = poolReport([], {
      target: oldConfig,
      newest: newConfig,
      hold: { kind: 'cancel', why: 'cancelled at a user’s request' },
      request: 'resume',
      problems: ['annotation slipway.dev/rollout-soak: expected 10m, found "x" [SLW_ROLLOUT_POLICY]'],
    });
    const text = statusText(buildStatusReport([pool]));
    expect(text).toContain(
      '  held (cancel): cancelled at a user’s request; the newest config is rendered-worker-22222222…\n',
    );
    expect(text).toContain('  requested, not answered yet: resume\n');
    expect(text).toContain('found "x" [SLW_ROLLOUT_POLICY]\n');
  });

  it('lists nodes in no pool, with what to do', () => {
    const outside = { name: 'n1', code: 'SLW_POOL_NONE', message: 'Node n1 is selected by no pool: label it' };
    expect(statusText(buildStatusReport([], { nodesWithoutPool: [outside] }))).toContain(
      'Node n1 is selected by no pool: label it [SLW_POOL_NONE]\n',
    );
  });

  it('escapes control characters in reports of nodes', () => {
    const text = statusText(
      buildStatusReport([poolReport([nodeReport('n1', { phase: 'failed', why: 'x\u001b[2J', blockedBy: 'a\nb' })])]),
    );
    expect(text).not.toContain('\u001b');
    expect(text).toContain('x\\u{1b}[2J (a\\nb)');
  });

  it('has colours only on request', () => {
    const report = buildStatusReport([poolReport([nodeReport('n1', { phase: 'failed' })])]);
    expect(statusText(report)).not.toContain('\u001b');
    expect(statusText(report, { paint: paintFor({ isTTY: true }, {}) })).toContain('\u001b[31mfailed\u001b[39m');
  });
});

const before = buildStatusReport([poolReport([waiting('worker-0'), waiting('worker-1'), nodeReport('worker-2')])]);

const withFirst = (first: Parameters<typeof nodeReport>[1]) =>
  buildStatusReport([poolReport([nodeReport('worker-0', first), waiting('worker-1'), nodeReport('worker-2')])]);

describe('a fleet that is watched in a pipe', () => {
  it('starts with all pools and the nodes that are not updated', () => {
    expect(changeLines(null, before)).toEqual([
      'worker: updating: worker-0 goes first',
      'worker/worker-0: waiting',
      'worker/worker-1: waiting',
    ]);
  });

  it('prints nothing if nothing changed', () => {
    expect(changeLines(before, structuredClone(before))).toEqual([]);
  });

  it('prints the step of a node and what blocks it', () => {
    const moving = { phase: 'updating', current: oldConfig, why: 'the canary' } as const;
    const preparing = withFirst({ ...moving, step: 'preparing' });
    expect(changeLines(before, preparing)).toContain('worker/worker-0: waiting → updating, preparing: the canary');
    const draining = withFirst({ ...moving, step: 'draining', blockedBy: 'pod a/b: budget a/c' });
    expect(changeLines(preparing, draining)).toEqual(['worker/worker-0: updating, draining: pod a/b: budget a/c']);
  });

  it('prints that a node left, a pool was deleted, a node is in no pool, and all rollouts stopped', () => {
    const none = buildStatusReport([poolReport([waiting('worker-0'), waiting('worker-1')])]);
    expect(changeLines(before, none)).toContain('worker/worker-2: left the pool');
    const message = 'Node worker-2 is selected by no pool';
    const stopped = buildStatusReport([], {
      stopped: 'fire\u001b[2J',
      nodesWithoutPool: [{ name: 'worker-2', code: 'SLW_POOL_NONE', message }],
    });
    expect(changeLines(before, stopped)).toEqual([
      'all rollouts are stopped: fire\\u{1b}[2J',
      'worker: deleted',
      message,
    ]);
    expect(changeLines(stopped, before)[0]).toBe('rollouts continue');
  });
});
