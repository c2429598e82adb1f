// Controllers that are killed for good (SIGKILL) at one of their writes, and what the next ones make of it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MachineConfig, machineConfigPools, machineConfigs, poolLabel, secrets } from '@slipway/api';
import { REMOTE_CONTENT_LABEL } from '@slipway/fleet/remote-content';
import { customPool, machineConfig } from '@slipway/testing/builders';
import { type FakeServer, startFakeServer } from '@slipway/testing/fake-http-server';
import { until } from '@slipway/testing/wait';
import { bundleDaemon } from '@slipway/tools/bundle';
import { afterAll, beforeAll, expect } from 'vitest';
import { findCondition, readFiles, findPool, type Fleet, NAMESPACE, renderedWith, startFleet } from './fleet.ts';

/** Right before a write leaves, or right after it has landed; writes are counted from 1. */
export interface Moment {
  readonly number: number;
  readonly when: 'before' | 'after';
}

let fleet: Fleet;
let web: FakeServer;
let directory: string;
/** In one file: it starts again and again, and to find hundreds of modules takes it longer than all it does. */
let program: string;
/** What every render must come to. */
let expectedConfig: MachineConfig;
let pools: string[];

/** For the top of a test file: a fleet whose default pools and one more are rendered. */
export function useRenderedFleet(): void {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-render-killed-'));
    const entry = join(import.meta.dirname, 'killed-controller.ts');
    ({ path: program } = await bundleDaemon({ entry, directory, whole: true }));
    fleet = await startFleet();
    web = await startFakeServer((_, response) => response.end('from afar'));
    pools = ['master', 'worker'];
    expectedConfig = (await renderUndisturbed('whole')).rendered;
  }, 120_000);
  afterAll(async () => {
    await web?.stop();
    await fleet?.stop();
    await rm(directory, { recursive: true, force: true });
  });
}

/** Every moment at which controllers that render a new pool can be killed. */
export async function listMoments(): Promise<Moment[]> {
  const { writes } = await renderUndisturbed('counted');
  const numbers = Array.from({ length: writes }, (_, index) => index + 1);
  return (['before', 'after'] as const).flatMap((when) => numbers.map((number) => ({ number, when })));
}

/** Kills controllers at these moments, each with a new pool: the next ones render the same, and nothing is orphaned. */
export async function expectSameAfterKills(moments: readonly Moment[]): Promise<void> {
  const killedAt: string[] = [];
  for (const moment of moments) {
    const at = await killAndGoOn(moment);
    if (at !== undefined) killedAt.push(`${moment.when} ${at}`);
  }
  // The order of writes is not always the same: at the last moments some come to their end first.
  expect(killedAt.length).toBeGreaterThan(moments.length / 2);
  await expectNothingOrphaned();
  console.log(`${killedAt.length} kills (${killedAt.join(', ')}): the same config each time, nothing orphaned`);
}

/** Resolves to what was written at that moment; undefined: it never came. */
async function killAndGoOn(moment: Moment): Promise<string | undefined> {
  const name = `kill-${moment.number}-${moment.when}`;
  await addPool(name);
  const killed = run(moment);
  const outcome = await Promise.race([killed.ended.then(() => 'killed'), untilSettled(name)]);
  const at = killed
    .writes()
    .at(moment.number - 1)
    ?.split('/')
    .at(-1);
  await killed.stop();

  const again = run();
  const rendered = await untilRendered(name);
  await again.stop();
  expect(rendered.metadata.name.slice(-32)).toBe(expectedConfig.metadata.name.slice(-32));
  expect(rendered.spec).toEqual(expectedConfig.spec);
  return outcome === 'killed' ? at : undefined;
}

async function renderUndisturbed(name: string): Promise<{ rendered: MachineConfig; writes: number }> {
  const running = run();
  await addPool(name);
  await untilSettled(name);
  await running.stop();
  return { rendered: await untilRendered(name), writes: running.writes().length };
}

interface Run {
  /** What it wrote to, in order. */
  writes(): string[];
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

/** Without a moment it is not killed. */
function run({ number, when }: Moment = { number: 0, when: 'after' }): Run {
  const child = spawn(process.execPath, [program, fleet.operatorKubeconfig, String(number), when], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const ended = once(child, 'close');
  return {
    writes: () => out.trim().split('\n').filter(Boolean),
    ended,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
    },
  };
}

/** A pool whose render needs every sort of write: chunk, index, annotation, rendered config, pool. */
async function addPool(name: string): Promise<void> {
  pools.push(name);
  const config = {
    ignition: { version: '3.4.0' },
    storage: { files: [{ path: '/etc/afar', contents: { source: `${web.url}/${name}` } }] },
  };
  await fleet.admin.create(machineConfigs, machineConfig(`50-${name}`, name, { config }));
  await fleet.admin.create(machineConfigPools, customPool(name));
}

async function untilRendered(name: string): Promise<MachineConfig> {
  const rendered = await renderedWith(fleet.admin, name, `50-${name}`, (found) => {
    expect(readFiles(found)['/etc/afar']).toBe('data:,from%20afar');
  });
  await until(async () =>
    expect(findCondition(await findPool(fleet.admin, name), 'RenderDegraded')).toMatchObject({ status: 'False' }),
  );
  return rendered;
}

/** The last write of all is the status that has seen the pool's newest spec. */
async function untilSettled(name: string): Promise<'settled'> {
  await untilRendered(name);
  await until(async () => {
    const found = await findPool(fleet.admin, name);
    expect(found?.status?.observedGeneration).toBe(found?.metadata.generation);
  });
  return 'settled';
}

async function expectNothingOrphaned(): Promise<void> {
  const rendered = await Array.fromAsync(fleet.admin.list(machineConfigs, { labelSelector: poolLabel }));
  const renderedFor = rendered.map(({ metadata }) => metadata.name.slice('rendered-'.length, -33));
  expect(renderedFor.sort()).toEqual(pools.toSorted());
  // All have the same content: one chunk, and an index for each MachineConfig that has it.
  const count = async (kind: 'chunk' | 'index'): Promise<number> => {
    const labelSelector = `${REMOTE_CONTENT_LABEL}=${kind}`;
    return (await Array.fromAsync(fleet.admin.list(secrets, { namespace: NAMESPACE, labelSelector }))).length;
  };
  expect(await count('chunk')).toBe(1);
  expect(await count('index')).toBe(pools.length - 2);
  // At most once more than there are MachineConfigs for each kill: while a fetch was under way.
  expect(web.requests.length).toBeLessThanOrEqual(2 * pools.length);
}
