// A node whose disk becomes full or read-only at each write of the daemon in turn, and recovers later. Time is virtual.
import { nodeAnnotations } from '@slipway/api/names';
import { makeSimulatedMachine } from '@slipway/simulator';
import { createManualClock } from '@slipway/testing/manual-clock';
import { afterAll, describe, expect, it } from 'vitest';
import { file, named, withFiles } from '../apply/testing/small-machine.ts';
import { readBaseline } from '../drift/baseline.ts';
import { type FileSystem, ownOwners } from '../host/file-system.ts';
import { copyImage, type DiskImage, emptyImage } from '../host/testing/disk-image.ts';
import { createRefusingDisk } from '../host/testing/faults.ts';
import { createMemoryDisk } from '../host/testing/memory-disk.ts';
import { FORCE_FILE } from '../state-file.ts';
import { readCurrentConfig, type StoredConfig, writeCurrentConfig } from '../stored-config.ts';
import { readMemory } from './local-node.ts';
import { applyDrain, desire, isDown, type NodeInCluster, nodeInCluster } from './testing/node-in-cluster.ts';

const MINUTE = 60_000;
const a = named('a', withFiles());
const b = named('b', withFiles(file('/etc/app.conf', 'b\n')));
const sameAsA = named('same', a.spec);

const buildPolicy = (...types: ('None' | 'Drain')[]) => ({
  nodeDisruptionPolicy: { files: [{ path: '/', actions: types.map((type) => ({ type })) }] },
});

interface Scenario {
  readonly name: string;
  readonly target: StoredConfig;
  readonly settings?: NodeInCluster['settings'];
  /** The machine before the first step. Default: settled at a. */
  readonly prepare?: (files: FileSystem, annotations: Record<string, string>) => Promise<void>;
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'an update', target: b, settings: buildPolicy('None') },
  { name: 'an update with a drain', target: b, settings: buildPolicy('Drain') },
  { name: 'an update with a reboot', target: b },
  { name: 'a config that is new only by name', target: sameAsA },
  {
    name: 'a forced update',
    target: b,
    settings: buildPolicy('None'),
    prepare: (files) => files.createFile(FORCE_FILE, { ...ownOwners(), mode: 0o600, bytes: new Uint8Array() }),
  },
  {
    name: 'the first start',
    target: a,
    async prepare(files, annotations) {
      await files.remove('/etc/machine-config-daemon/daemon.json');
      await files.remove('/etc/machine-config-daemon/baseline.json');
      delete annotations[nodeAnnotations.currentConfig];
    },
  },
  {
    name: 'a machine that lost its config',
    target: a,
    prepare: (files) => files.remove('/etc/machine-config-daemon/currentconfig'),
  },
];

/** The machine and its Node, settled at a. */
async function settleAtA(): Promise<{ image: DiskImage; annotations: Record<string, string> }> {
  const image = emptyImage(ownOwners());
  const files = createMemoryDisk(image);
  await makeSimulatedMachine(files);
  await writeCurrentConfig(files, a);
  const annotations: Record<string, string> = {};
  const node = await nodeInCluster({ current: a, files, annotations });
  desire(node, a);
  await node.settle();
  return { image, annotations };
}

/** Does what the controllers and systemd do, and passes time like the runtime of the daemon. */
async function startLife(
  { scenario, files }: { scenario: Scenario; files: FileSystem },
  before: NodeInCluster['annotations'],
) {
  const clock = createManualClock();
  const annotations = { ...before };
  const start = async (): Promise<NodeInCluster> => {
    const node = await nodeInCluster({ current: a, files, annotations, clock });
    node.settings = scenario.settings;
    desire(node, scenario.target);
    return node;
  };
  let node = await start();

  async function liveUntil(holds: () => boolean): Promise<void> {
    for (let idle = 0; !holds(); idle += 1) {
      expect(idle).toBeLessThan(2000);
      const earlier = JSON.stringify(annotations);
      const next = await node.step();
      applyDrain(node);
      if (isDown(node)) node = await start();
      else if (JSON.stringify(annotations) === earlier) {
        const settingsMs = annotations[nodeAnnotations.state] === 'Done' ? 2 * MINUTE : 10_000;
        await clock.advance(next.type === 'done' ? settingsMs : Math.min(next.afterMs, settingsMs));
      }
    }
  }

  return {
    annotations,
    node: () => node,
    liveUntil,
    liveFor(ms: number): Promise<void> {
      const end = clock.now() + ms;
      return liveUntil(() => clock.now() >= end);
    },
    now: () => clock.now(),
  };
}

const describeProblem = (code: string): RegExp => new RegExp(`${code}: .* /(?:etc|run)/.*retries.*SLW_DAEMON_DISK`);

const isDegraded = (annotations: NodeInCluster['annotations'], code: string): boolean =>
  annotations[nodeAnnotations.state] === 'Degraded' &&
  describeProblem(code).test(annotations[nodeAnnotations.reason] ?? '');

function expectDegraded(annotations: NodeInCluster['annotations'], { at, code }: { at: number; code: string }): void {
  const [state, reason] = [annotations[nodeAnnotations.state], annotations[nodeAnnotations.reason]];
  expect({ at, state, reason }).toEqual({
    at,
    state: 'Degraded',
    reason: expect.stringMatching(describeProblem(code)),
  });
}

/** Of all runs, printed at the end. In seconds of virtual time. */
const figures = { runs: 0, scenarios: new Set<string>(), reported: 0, recovered: 0 };
afterAll(() => {
  const { runs, scenarios, reported, recovered } = figures;
  console.log(
    `a disk that fails at each of ${runs} writes in ${scenarios.size} scenarios: Degraded within ${reported} s; goal: 60 s; ` +
      `at its config within ${recovered} s after the disk`,
  );
});

describe.each(['ENOSPC', 'EROFS'] as const)('a disk that refuses writes with %s during', (code) => {
  it.each(SCENARIOS)('$name makes the node Degraded within a minute, and it recovers', async (scenario) => {
    const settled = await settleAtA();
    const prepared = createMemoryDisk(settled.image);
    await scenario.prepare?.(prepared, settled.annotations);
    let refusedRuns = 0;
    for (let at = 0; ; at += 1) {
      const disk = createMemoryDisk(copyImage(settled.image));
      const { files, state } = createRefusingDisk(disk, { at, code });
      const life = await startLife({ scenario, files }, settled.annotations);
      const began = life.now();
      await life.liveUntil(() => state.refusals > 0 || life.now() - began > 10 * MINUTE);
      if (state.refusals > 0) {
        refusedRuns += 1;
        const failed = life.now();
        await life.liveUntil(() => isDegraded(life.annotations, code) || life.now() - failed > MINUTE);
        figures.reported = Math.max(figures.reported, (life.now() - failed) / 1000);
        await life.liveUntil(() => life.now() - failed >= MINUTE);
        expectDegraded(life.annotations, { at, code });
        state.isRepaired = true;
        const repaired = life.now();
        const isThere = () => life.node().told.at(-1) === `${scenario.target.name}: idle`;
        await life.liveUntil(() => isThere() || life.now() - repaired > 32 * MINUTE);
        figures.recovered = Math.max(figures.recovered, (life.now() - repaired) / 1000);
        figures.runs += 1;
        figures.scenarios.add(`${scenario.name} ${code}`);
        await life.liveFor(32 * MINUTE);
      }
      const node = life.node();
      const { target } = scenario;
      expect({ at, told: node.told.at(-1) }).toEqual({ at, told: `${target.name}: idle` });
      expect((await readCurrentConfig(disk))?.name).toBe(target.name);
      expect(await readMemory(disk)).toEqual(node.local.memory());
      expect((await readBaseline(disk))?.config).toBe(target.name);
      expect(node.drift.calls.at(-1) ?? '').not.toBe('pause');
      if (state.writes <= at) break;
    }
    expect(refusedRuns).toBeGreaterThan(0);
  });
});
