import type { RolloutRecord } from '@slipway/fleet';
import { type HistoryInput, historyReport, newestFirst, type RecordedConfig } from '@slipway/fleet/reports';
import { sampleState } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { historyText } from './history.ts';

const name = (digit: number): string => `rendered-worker-${String(digit).repeat(32)}`;

const file = (path: string, text: string, mode = 0o644) => ({
  path,
  mode,
  contents: { source: `data:,${encodeURIComponent(text)}` },
});

const rendered = (digit: number, files: object[], sources: [name: string, digest: string][]): RecordedConfig => ({
  name: name(digit),
  renderedAt: `2026-01-02T03:0${digit}:00Z`,
  isInUse: digit === 2,
  sources: sources.map(([source, digest]) => ({ name: source, generation: 1, digest })),
  spec: { config: { ignition: { version: '3.5.0' }, storage: { files } } },
});

const first = rendered(
  1,
  [file('/etc/motd', 'one\n')],
  [
    ['00-worker', 'a'],
    ['50-motd', 'b'],
  ],
);
const second = rendered(
  2,
  [file('/etc/motd', 'two\n'), file('/etc/secret', 'hush\n', 0o600)],
  [
    ['00-worker', 'a'],
    ['50-motd', 'c'],
    ['60-secret', 'd'],
  ],
);

const record: RolloutRecord = {
  config: name(1),
  from: name(0),
  startedAt: '2026-01-02T03:01:00.000Z',
  endedAt: '2026-01-02T03:05:00.000Z',
  outcome: 'completed',
  nodes: 3,
  capacity: 1,
  why: 'a new config was rendered',
};

const input: HistoryInput = {
  pool: 'worker',
  target: name(2),
  state: { ...sampleState, target: name(2), from: name(1), startedAt: '2026-01-02T03:06:00.000Z' },
  history: [record],
  rendered: [second, first],
};

describe('the history of a pool', () => {
  it('lists rollouts newest first, the one in progress on top, with the changes of each', async () => {
    const { rollouts } = await historyReport(input);
    expect(rollouts).toMatchObject([
      {
        config: name(2),
        outcome: 'under way',
        seconds: null,
        changes: {
          machineConfigs: [
            { name: '50-motd', change: 'changed' },
            { name: '60-secret', change: 'added' },
          ],
          items: [
            { noun: 'file', name: '/etc/motd', change: 'changed' },
            { noun: 'file', name: '/etc/secret', change: 'added' },
          ],
        },
      },
      { config: name(1), outcome: 'completed', seconds: 240, changes: null },
    ]);
  });

  it('lists the existing rendered configs, each with its changes since the previous one', async () => {
    const { configs } = await historyReport(input);
    expect(configs).toMatchObject([
      { name: name(2), isTarget: true, isInUse: true, before: name(1), changes: { items: [{}, {}] } },
      { name: name(1), isTarget: false, isInUse: false, before: null, changes: null },
    ]);
  });

  it('does not list a completed rollout as under way', async () => {
    const { rollouts } = await historyReport({ ...input, state: { ...sampleState, endedAt: record.endedAt } });
    expect(rollouts.map(({ outcome }) => outcome)).toEqual(['completed']);
  });

  it('hides secrets unless requested', async () => {
    const [hidden, shown] = [await historyReport(input), await historyReport(input, { showSecrets: true })];
    expect(JSON.stringify(hidden)).not.toContain('hush');
    expect(historyText(hidden)).not.toContain('hush');
    expect(JSON.stringify(shown)).toContain('hush');
  });

  it('has no MachineConfigs if they were not recorded', async () => {
    const { configs } = await historyReport({ ...input, rendered: [{ ...second, sources: null }, first] });
    expect(configs[0]?.changes?.machineConfigs).toBeNull();
  });

  it('treats the config that was rendered last as the newest', () => {
    expect([first, second].sort(newestFirst)).toEqual([second, first]);
  });
});

describe('the text of slipway history', () => {
  it('shows each rollout with its MachineConfigs and fields, then the rendered configs', async () => {
    const text = historyText(await historyReport(input));
    expect(text).toContain(
      [
        '2026-01-02 03:06:00Z  under way, 3 nodes',
        '  rendered-worker-11111111… → rendered-worker-22222222…',
        '  MachineConfigs: ~ 50-motd, + 60-secret',
        '    ~ file /etc/motd',
        '        @@ -1,1 +1,1 @@',
        '        -one',
        '        +two',
        '',
        '    + file /etc/secret',
      ].join('\n'),
    );
    expect(text).toContain(
      [
        '2026-01-02 03:01:00Z  completed in 4 min, 3 nodes, 1 at a time',
        '  rendered-worker-00000000… → rendered-worker-11111111…',
        '  a new config was rendered',
        '  changes unknown: one of the two rendered configs no longer exists',
      ].join('\n'),
    );
    expect(text).toContain(
      'rendered-worker-22222222…  2026-01-02 03:02:00Z  target  ~ 50-motd, + 60-secret: ~ file /etc/motd, + file /etc/secret\n',
    );
  });

  it('cuts a long diff and names the command for the rest', async () => {
    const long = (text: string) =>
      file('/etc/long', Array.from({ length: 100 }, (_, line) => `${text} ${line}\n`).join(''));
    const text = historyText(
      await historyReport({ ...input, rendered: [rendered(2, [long('new')], []), rendered(1, [long('old')], [])] }),
    );
    expect(text).toMatch(new RegExp(`… \\d+ more lines: slipway diff ${name(1)} ${name(2)}\n`));
    expect(text.split('\n').length).toBeLessThan(60);
  });

  it('reports that there was no rollout', async () => {
    const nothing = { pool: 'infra', target: null, state: null, history: [], rendered: [] };
    expect(historyText(await historyReport(nothing))).toBe(
      'Pool infra has had no rollouts yet.\n\nRendered configs, newest first\nnone\n',
    );
  });
});
