import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { machineConfigPools, nodes } from '@slipway/api';
import { createClient, createTransport, loadKubeconfig } from '@slipway/kube';
import type { Client } from '@slipway/kube';
import { type RunningProcess, startProgram, startSlipway } from '@slipway/testing/slipway-process';
import { until } from '@slipway/testing/wait';
import { resolveBinaries } from '@slipway/tools/controlplane';
import { run, tryRun } from '@slipway/tools/run';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isSameOutput, readTour, type TourStep } from './tour/readme-tour.ts';

let dataDir: string;
/** The last started process, for tests that can share it. */
let running: RunningProcess | undefined;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'slipway-start-'));
});

afterAll(async () => {
  running?.child.kill('SIGINT');
  await running?.exit;
  await rm(dataDir, { recursive: true });
});

// From sources, like `npm start`.
const main = resolve(import.meta.dirname, '../packages/slipway/src/main.ts');

async function start(...args: string[]): Promise<RunningProcess> {
  running = startProgram(main, ['start', '--data-dir', dataDir, '--feature-gates', 'PinnedImages=true', ...args]);
  await running.saw(/Ctrl-C stops everything/);
  return running;
}

async function withClient<T>(use: (client: Client) => Promise<T>): Promise<T> {
  const transport = createTransport(await loadKubeconfig([join(dataDir, 'admin.kubeconfig')]));
  try {
    return await use(createClient(transport));
  } finally {
    await transport.close();
  }
}

const pools = (): Promise<string[]> =>
  withClient(async (client) => {
    const names: string[] = [];
    for await (const pool of client.list(machineConfigPools)) names.push(pool.metadata.name);
    return names.sort();
  });

describe('slipway start', () => {
  it('runs everything, stops cleanly on Ctrl-C, and continues at the next start', async () => {
    const first = await start('--nodes', '0');
    expect(first.out()).toContain(join(dataDir, 'admin.kubeconfig'));
    await until(async () => expect(await pools()).toEqual(['master', 'worker']));
    const kubectl = (await resolveBinaries(['kubectl'])).kubectl;
    const explained = await run(kubectl, [
      '--kubeconfig',
      join(dataDir, 'admin.kubeconfig'),
      'explain',
      'machineconfigpool.spec',
    ]);
    expect(explained).toContain('maxUnavailable');

    first.child.kill('SIGINT');
    expect(await first.exit).toBe(0);
    expect(first.err()).toContain('Stopped.');

    const begun = performance.now();
    const second = await start();
    const seconds = (performance.now() - begun) / 1000;
    console.log(`second start: ${seconds.toFixed(1)} s`);
    expect(await pools()).toEqual(expect.arrayContaining(['master', 'worker']));
    expect(seconds).toBeLessThan(60);
    expect(second.err()).toContain('Installed 7 Slipway CRDs');
  }, 120_000);

  it('has a small fleet of three pools, and states that its machines are simulated', async () => {
    const started = running ?? (await start());
    expect(started.out()).toMatch(/machines +8, all simulated/);
    const machines = await withClient((client) => Array.fromAsync(client.list(nodes)));
    const names = ['infra-0', 'infra-1', 'master-0', 'master-1', 'master-2', 'worker-0', 'worker-1', 'worker-2'];
    expect(machines.map(({ metadata }) => metadata.name)).toEqual(names);
    for (const { status } of machines) {
      expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
      expect(status?.nodeInfo?.osImage).toMatch(/^Simulated machine/);
    }
  });

  it('refuses more machines than one computer can simulate', async () => {
    const refused = startSlipway('start', '--data-dir', `${dataDir}-other`, '--nodes', '1001');
    expect(await refused.exit).toBe(1);
    expect(refused.err()).toMatch(/^slipway: .*--nodes.*from 0 to 1000, found "1001".*\[SLW_CLI_USAGE\]$/m);
  });

  it('reports in one line that a port is taken, and which flag chooses another', async () => {
    const first = running ?? (await start());
    const port = /127\.0\.0\.1:(\d+)/.exec(first.out())?.[1] ?? '';
    const second = startSlipway('start', '--data-dir', `${dataDir}-other`, '--port', port);
    expect(await second.exit).toBe(1);
    expect(second.err()).toMatch(new RegExp(`^slipway: .*${port}.*--port.*\\[SLW_TOOLS_PORT_TAKEN\\]$`, 'm'));
    await rm(`${dataDir}-other`, { recursive: true, force: true });
  });

  it('turns gates on and off with FeatureGate cluster, without a restart', async () => {
    const gates = {
      group: 'config.openshift.io',
      version: 'v1',
      kind: 'FeatureGate',
      plural: 'featuregates',
      namespaced: false,
    };
    if (running === undefined) await start();
    const log = (): Promise<string> => readFile(join(dataDir, 'log', 'controllers.log'), 'utf8');
    const object = { metadata: { name: 'cluster' }, spec: { customNoUpgrade: { enabled: ['OSStreams'] } } };
    await withClient((client) => client.create(gates, object));
    await until(async () => {
      expect(await log()).toMatch(/"gate":"OSStreams".*feature gate turned on/);
      expect(await log()).toMatch(/"gate":"PinnedImages".*feature gate turned off/);
    });
  });

  it('takes the drift policy as the page about drift applies it', async () => {
    if (running === undefined) await start();
    const page = await readFile(resolve(import.meta.dirname, '../docs/drift.md'), 'utf8');
    const manifest = /```yaml\n(.*?)```/s.exec(page)?.[1] ?? '';
    expect(manifest).toContain('drift-policy');
    const { kubectl } = await resolveBinaries(['kubectl']);
    const apply = [kubectl, '--kubeconfig', join(dataDir, 'admin.kubeconfig'), 'apply', '-f', '-'];
    const { out } = await tryRun('sh', ['-c', 'printf %s "$MANIFEST" | "$@" 2>&1', 'sh', ...apply], {
      env: { ...process.env, MANIFEST: manifest },
    });
    expect(out.trim()).toBe('machineconfiguration.operator.openshift.io/cluster created');
  });

  it('ends within seconds when its API server dies, and names it, its signal and what to do', async () => {
    const { child, exit, err } = running ?? (await start());
    running = undefined;
    const before = err().length;
    process.kill(await pidBelow(child.pid, 'kube-apiserver'), 'SIGKILL');
    const killed = performance.now();
    expect(await exit).toBe(1);
    const seconds = (performance.now() - killed) / 1000;
    const text = err().slice(before);
    console.log(`slipway start ended ${seconds.toFixed(1)} s after its API server was killed (goal: 10 s):\n${text}`);
    expect(seconds).toBeLessThan(10);
    expect(text).toMatch(
      /^slipway: kube-apiserver died \(signal SIGKILL\)\. .*kube-apiserver\.log\. .*npm start \[SLW_TOOLS_START_FAILED\]$/m,
    );
    expect(text.length).toBeLessThan(1500);
    expect(text).not.toMatch(/^ *I\d{4} |Stopped\./m);
  });
});

/** A child process by the name of its program. */
async function pidBelow(parent: number | undefined, program: string): Promise<number> {
  for (const pid of (await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8')).trim().split(' ')) {
    if ((await readFile(`/proc/${pid}/comm`, 'utf8')).trim() === program) return Number(pid);
  }
  throw new Error(`process ${parent} has no child ${program}`);
}

describe('the README', () => {
  const ROOT = resolve(import.meta.dirname, '..');
  /** A rollout passes through what the page shows; on a loaded machine it takes its time. */
  const WITHIN_MS = 120_000;

  let directory: string;
  let started: RunningProcess;
  let steps: { start: TourStep[]; tour: TourStep[] };

  beforeAll(async () => {
    // One fleet at a time: both would take the default port.
    await running?.stop('SIGINT');
    running = undefined;
    directory = await mkdtemp(join(tmpdir(), 'slipway-tour-'));
    await mkdir(join(directory, 'bin'));
    await symlink((await resolveBinaries(['kubectl'])).kubectl, join(directory, 'bin/kubectl'));
    const page = await readFile(join(ROOT, 'README.md'), 'utf8');
    steps = { start: readTour(page, 'Two commands'), tour: readTour(page, 'A first tour') };
    // What `npm start` runs.
    started = startProgram(join(ROOT, 'packages/slipway/src/main.ts'), [
      'start',
      '--data-dir',
      join(directory, 'data'),
    ]);
    await started.saw(/Ctrl-C stops everything/);
  });

  afterAll(async () => {
    await started.stop('SIGINT');
    await rm(directory, { recursive: true });
  });

  it('npm start prints what the README shows', () => {
    const [start] = steps.start;
    expect(start?.command).toBe('npm start');
    expect(start?.output.length).toBeGreaterThan(5);
    expect(`${started.err()}${started.out()}`).toSatisfy((output: string) => isSameOutput(start?.output ?? [], output));
  });

  it('the tour of the README works as written, command by command', { timeout: 5 * WITHIN_MS }, async () => {
    const env = {
      ...process.env,
      PATH: `${join(directory, 'bin')}:${process.env['PATH']}`,
      KUBECONFIG: join(directory, 'data/admin.kubeconfig'),
    };
    const [first, ...commands] = steps.tour;
    // The data directory of a newcomer is the clone's own; here it is that of this test.
    expect(first).toEqual({ command: 'export KUBECONFIG=$PWD/.slipway/admin.kubeconfig', output: [] });
    expect(commands.length).toBeGreaterThan(4);
    for (const { command, output } of commands) {
      // Reading may be repeated until the rollout is where the page shows it; a change is made once.
      const isReading = /^\.\/slipway (status|why|history)\b/.test(command);
      const check = async (): Promise<void> => {
        const { out: text } = await tryRun('sh', ['-c', `${command} 2>&1`], { cwd: ROOT, env });
        if (!isSameOutput(output, text))
          throw new Error(`$ ${command}\nthe README shows:\n${output.join('\n')}\n\nfound:\n${text}`);
      };
      await (isReading ? until(check, WITHIN_MS) : check());
    }
  });
});
