import { drainBlockedAnnotation, targetReasonAnnotation } from '@slipway/api';
import { decideFleet } from '@slipway/fleet';
import { type WhyInPool, type WhyReport, whyReport } from '@slipway/fleet/reports';
import { recordIn, type SampleFleet, sampleFleet, sampleNode, sampleMachineConfigPool } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { type DetailedReport, noSuchNode, whyText, withDetails } from './why.ts';

const now = Date.parse('2026-01-02T04:00:00Z');

const plainly = (report: WhyReport): DetailedReport => ({ ...report, details: [], detailsCommand: '' });

function why(node: string, sample: SampleFleet): WhyReport {
  const fleet = sampleFleet(sample);
  const report = whyReport(node, fleet, decideFleet(fleet, now));
  if (report === null) throw noSuchNode(node, fleet);
  return report;
}

function whyInPool(node: string, sample: SampleFleet): WhyInPool {
  const report = why(node, sample);
  if (report.pool === null) throw new Error(report.why);
  return report;
}

const moving = sampleNode('worker-0', {
  desired: 'rendered-worker-2',
  state: 'Working',
  annotations: {
    [targetReasonAnnotation]: '2026-01-02T03:00:00.000Z oldest remaining node',
    [drainBlockedAnnotation]: 'pod shop/web-1: budget shop/web allows no disruption',
  },
});
const failed = sampleNode('worker-0', { desired: 'rendered-worker-2', state: 'Degraded', reason: 'disk full [SLW_X]' });
const others = [sampleNode('worker-1'), sampleNode('worker-2')];

describe('slipway why', () => {
  it.each([
    ['is cordoned', sampleNode('worker-0', { isCordoned: true })],
    ['has drifted', sampleNode('worker-0', { state: 'Degraded', reason: 'it differs [SLW_DAEMON_DRIFT]' })],
    ['failed at an earlier config', sampleNode('worker-0', { state: 'Degraded', reason: 'disk full [SLW_X]' })],
  ])('names the machine that holds every slot until a user acts, because it %s', (_, holder) => {
    expect(whyInPool('worker-1', { nodes: [holder, ...others] }).wayOut).toEqual([
      'It waits until a user acts: worker-0 is cordoned by a user or failed, and counts as unavailable. See what to do there: slipway why worker-0. Or raise spec.maxUnavailable of pool worker.',
    ]);
  });

  it('tells how a node that a user has cordoned can be updated', () => {
    const nodes = [sampleNode('worker-0', { isCordoned: true }), ...others];
    expect(whyInPool('worker-0', { nodes }).wayOut).toEqual([
      'A user cordoned it. To let it update: kubectl uncordon worker-0',
    ]);
  });

  it('shows when and why an updating node was assigned its config, its step, and what its drain waits for', () => {
    const report = whyInPool('worker-0', { nodes: [moving, ...others], records: [recordIn('worker-0', 'Drained')] });
    expect(report).toMatchObject({
      pool: 'worker',
      phase: 'updating',
      current: 'rendered-worker-1',
      desired: 'rendered-worker-2',
      target: 'rendered-worker-2',
      given: { at: '2026-01-02T03:00:00.000Z', why: 'oldest remaining node' },
      step: 'draining',
      drainBlocked: expect.stringContaining('budget shop/web'),
    });
    expect(report.wayOut).toEqual([expect.stringContaining('change the PodDisruptionBudget')]);
    const text = whyText(plainly(report));
    expect(text).toMatch(/^Node worker-0 of pool worker: updating\n/);
    expect(text).toMatch(/assigned +2026-01-02T03:00:00\.000Z: oldest remaining node\n/);
    expect(text).toMatch(/drain waits for +pod shop\/web-1: budget shop\/web allows no disruption\n/);
  });

  it('shows what a waiting node waits for', () => {
    const report = whyInPool('worker-1', { nodes: [moving, ...others] });
    expect(report.phase).toBe('waiting');
    expect(report.why).not.toBe('');
    expect(report.wayOut).toEqual([
      expect.stringMatching(/^No action needed\. Follow it with: slipway status worker --watch$/),
    ]);
  });

  it.each<[string, SampleFleet, RegExp]>([
    ['failed', { nodes: [failed, ...others] }, /Fix the problem that node worker-0 reports.*slipway cancel worker/],
    ['works', { nodes: [sampleNode('worker-0', { current: 'rendered-worker-2' })] }, /^No action needed\.$/],
    [
      'is in a paused pool',
      { pools: [sampleMachineConfigPool('worker', { paused: true })], nodes: [sampleNode('worker-0')] },
      /slipway resume worker/,
    ],
    ['is in a stopped fleet', { nodes: [sampleNode('worker-0')], stopped: 'fire' }, /slipway resume --all/],
    ['was cordoned by a user', { nodes: [sampleNode('worker-0', { isCordoned: true })] }, /kubectl uncordon worker-0/],
    ['is not ready', { nodes: [sampleNode('worker-0', { isReady: false })] }, /kubectl describe node worker-0/],
    [
      'drifted',
      { nodes: [sampleNode('worker-0', { state: 'Degraded', reason: '/etc/motd differs' })] },
      /reports: it is updated once its state is Done/,
    ],
    [
      'drifted after its update',
      {
        nodes: [
          sampleNode('worker-0', {
            current: 'rendered-worker-2',
            state: 'Degraded',
            reason: 'file /etc/motd differs [SLW_DAEMON_DRIFT]',
          }),
          ...others,
        ],
      },
      /^Revert the change on node worker-0.*slipway\.dev\/drift-policy=heal.*slipway resume worker\.$/,
    ],
    ['has not reported yet', { nodes: [sampleNode('worker-0', { current: '' })] }, /Check that it runs on worker-0/],
  ])('recommends what to do for a node that %s', (_, sample, expected) => {
    expect(whyInPool('worker-0', sample).wayOut.join(' ')).toMatch(expected);
  });

  it('explains a halted rollout: other nodes point to the failed one, which shows what its daemon reports', () => {
    const sample = { nodes: [failed, ...others] };
    expect(whyInPool('worker-1', sample)).toMatchObject({
      poolPhase: 'halted',
      wayOut: [expect.stringContaining('because of another node')],
    });
    expect(whyText(plainly(whyInPool('worker-0', sample)))).toMatch(/daemon reports +disk full \[SLW_X\]\n/);
  });

  it('shows the details that stay on a machine, or the command that shows them there', async () => {
    const report = whyInPool('worker-0', { nodes: [failed, ...others] });
    const line = 'Nov 18 15:00:00.000000 worker-0 machine-config-details[7]: -server 0.pool.ntp.org';
    const read = await withDetails(report, () => Promise.resolve([line]));
    expect(whyText(read)).toContain(`\nDetails on the machine:\n  ${line}\n\n→ Fix`);
    expect(whyText(read)).not.toContain('journalctl');
    const unread = whyText(await withDetails(report, () => Promise.resolve([])));
    expect(unread).toMatch(
      /→ See the details on the machine: journalctl -u machine-config-daemon -t machine-config-details\n/,
    );
    const healthy = whyInPool('worker-1', { nodes: [moving, ...others] });
    const never = () => Promise.reject(new Error('a healthy node has no details'));
    expect(await withDetails(healthy, never)).toMatchObject({ details: [], detailsCommand: '' });
  });

  it('explains why a node is in no pool', () => {
    const report = why('n1', { nodes: [sampleNode('n1', { roles: [] })] });
    expect(report).toMatchObject({ pool: null, code: 'SLW_POOL_NONE' });
    expect(whyText(plainly(report))).toMatch(/^Node n1 is selected by no pool.*\[SLW_POOL_NONE\]\n$/);
  });

  it('suggests names close to a misspelt one', () => {
    expect(() => why('worker-O', { nodes: [moving, ...others] })).toThrow(
      expect.objectContaining({
        code: 'SLW_CLI_NO_NODE',
        message: expect.stringContaining('Did you mean worker-0'),
      }),
    );
    expect(() => why('xyz', { nodes: others })).toThrow('List the nodes with: slipway status --all-nodes');
  });
});
