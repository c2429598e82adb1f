import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { machineConfigPools, machineConfigs, poolLabel, secrets } from '@slipway/api';
import { remoteContentLabel } from '@slipway/controllers';
import { customPool, machineConfig } from '@slipway/testing/builders';
import { until } from '@slipway/testing/wait';
import { bundleDaemon } from '@slipway/tools/bundle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conditionOf, filesOf, findPool, type Fleet, namespace, renderedWith, startFleet } from './render/fleet.ts';

let fleet: Fleet;
let web: Server;
let directory: string;
/** In one file: it starts some hundred times, and to find hundreds of modules takes it longer than all it does. */
let program: string;
let requests = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'slipway-render-killed-'));
  const entry = join(import.meta.dirname, 'render/killed-controller.ts');
  ({ path: program } = await bundleDaemon({ entry, directory, whole: true }));
  fleet = await startFleet();
  web = createServer((_, response) => {
    requests += 1;
    response.end('from afar');
  });
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
}, 120_000);
afterAll(async () => {
  web?.close();
  await fleet?.stop();
  await rm(directory, { recursive: true, force: true });
});

interface Run {
  /** What it wrote to, in order. */
  writes(): string[];
  ended: Promise<unknown>;
  stop(): Promise<void>;
}

/** Without a number it is not killed. */
function run(number = 0, when: 'before' | 'after' = 'after'): Run {
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
async function makePool(name: string): Promise<void> {
  const { port } = web.address() as AddressInfo;
  const config = {
    ignition: { version: '3.4.0' },
    storage: { files: [{ path: '/etc/afar', contents: { source: `http://127.0.0.1:${port}/${name}` } }] },
  };
  await fleet.admin.create(machineConfigs, machineConfig(`50-${name}`, name, { config }));
  await fleet.admin.create(machineConfigPools, customPool(name));
}

const converged = async (name: string) => {
  const rendered = await renderedWith(fleet.admin, name, `50-${name}`, (found) => {
    expect(filesOf(found)['/etc/afar']).toBe('data:,from%20afar');
  });
  await until(async () =>
    expect(conditionOf(await findPool(fleet.admin, name), 'RenderDegraded')).toMatchObject({ status: 'False' }),
  );
  return rendered;
};

/** The last write of all is the status that has seen the pool's newest spec. */
async function settled(name: string): Promise<'settled'> {
  await converged(name);
  await until(async () => {
    const found = await findPool(fleet.admin, name);
    expect(found?.status?.observedGeneration).toBe(found?.metadata.generation);
  });
  return 'settled';
}

async function listOf(labelSelector: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { metadata } of fleet.admin.list(secrets, { namespace, labelSelector })) names.push(metadata.name);
  return names;
}

describe('a controller killed at any of its writes', () => {
  it('goes on where it stood: the same rendered config, nothing orphaned', async () => {
    const first = run();
    await makePool('whole');
    const wanted = await converged('whole');
    await first.stop();
    const hash = (name: string) => name.slice(-32);

    const pools = ['master', 'worker', 'whole'];
    const killedAt: string[] = [];
    for (const when of ['before', 'after'] as const) {
      // Until a run comes to its end before it comes to its fatal write.
      for (let number = 1; ; number += 1) {
        const name = `kill-${number}-${when}`;
        pools.push(name);
        await makePool(name);
        const killed = run(number, when);
        const outcome = await Promise.race([killed.ended.then(() => 'killed'), settled(name)]);
        const at = killed.writes().at(number - 1);
        await killed.stop();
        if (outcome === 'killed') killedAt.push(`${when} ${at?.split('/').at(-1)}`);

        const again = run();
        const rendered = await converged(name);
        await again.stop();
        expect(hash(rendered.metadata.name)).toBe(hash(wanted.metadata.name));
        expect(rendered.spec).toEqual(wanted.spec);
        if (outcome !== 'killed') break;
        expect(number).toBeLessThan(30);
      }
    }
    expect(killedAt.length).toBeGreaterThanOrEqual(8);

    const rendered: string[] = [];
    for await (const { metadata } of fleet.admin.list(machineConfigs, { labelSelector: poolLabel })) {
      rendered.push(metadata.name);
    }
    expect(rendered.map((name) => name.slice('rendered-'.length, -33)).sort()).toEqual(pools.sort());
    // All have the same content: one chunk, and an index for each MachineConfig that has it.
    expect(await listOf(`${remoteContentLabel}=chunk`)).toHaveLength(1);
    expect(await listOf(`${remoteContentLabel}=index`)).toHaveLength(pools.length - 2);
    // At most once more than there are MachineConfigs for each kill: while a fetch was under way.
    expect(requests).toBeLessThanOrEqual(2 * pools.length);
    console.log(`${killedAt.length} kills (${killedAt.join(', ')}): the same config each time, nothing orphaned`);
  }, 300_000);
});
