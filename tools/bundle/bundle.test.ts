import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundleDaemon, daemonEnvironment, daemonFlags } from './bundle.ts';

const kube = resolve(import.meta.dirname, '../../packages/kube/src/index.ts');
const api = resolve(import.meta.dirname, '../../packages/api/src/index.ts');

describe('the bundle of a program', () => {
  let directory: string;
  const writeEntry = async (source: string): Promise<string> => {
    const entry = join(directory, 'entry.ts');
    await writeFile(entry, source);
    return entry;
  };
  const bundle = async (source: string) =>
    bundleDaemon({ entry: await writeEntry(source), directory: join(directory, 'out') });
  const run = async (path: string) => (await promisify(execFile)(process.execPath, [path], { cwd: '/' })).stdout;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-bundle-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is one file that needs only Node', async () => {
    const { path } = await bundle(`
      import { createTransport } from '${kube}';
      import { machineConfigs } from '${api}';
      console.log(typeof createTransport, machineConfigs.plural satisfies string);
    `);
    expect(await run(path)).toBe('function machineconfigs\n');
    expect(await readdir(join(directory, 'out'))).toEqual(['slipway-daemon.mjs']);
  });

  it('is run by the slipway command with the settings that are measured', async () => {
    const command = await readFile(resolve(import.meta.dirname, '../../slipway'), 'utf8');
    expect(command).toContain(`set -- ${daemonFlags.join(' ')} "$root/dist/slipway-daemon.mjs"`);
    for (const [name, value] of Object.entries(daemonEnvironment)) expect(command).toContain(` ${name}=${value}`);
  });

  it('omits the schemas of kinds that a program only names', async () => {
    const { bytes } = await bundle(`import { machineConfigs } from '${api}'; console.log(machineConfigs.plural);`);
    expect(bytes).toBeLessThan(50_000);
  });

  it('keeps the HTTP client and the metrics of its packages', async () => {
    const { path, bytes } = await bundle(`
      import { createServer } from 'node:http';
      import { once } from 'node:events';
      import { createMetrics, createTransport } from '${kube}';
      const server = createServer((_, answer) => answer.end('{"is":"there"}')).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const credentials = { source: 'none', current: async () => ({}), refresh: async () => {} };
      const access = { server: 'http://127.0.0.1:' + server.address().port, ca: async () => undefined, credentials };
      const transport = createTransport(access);
      console.log(await transport.json({ method: 'GET', path: '/', what: 'get it', retry: 'never' }));
      await transport.close();
      server.close();
      const metrics = createMetrics();
      metrics.events.inc({ result: 'written' });
      console.log(/^slipway_events_total.*/m.exec(await metrics.registry.metrics())[0]);
    `);
    expect(await run(path)).toBe('{ is: \'there\' }\nslipway_events_total{result="written"} 1\n');
    expect(bytes).toBeLessThan(1_000_000);
  });

  it('is in ASCII, and prints the same', async () => {
    const { path } = await bundle(`console.log('…', \`→ \${'é'}\`, '😀', /^[’–]$/u.test('–'));`);
    expect(await readFile(path, 'utf8')).toMatch(/^\p{ASCII}*$/u);
    expect(await run(path)).toBe('… → é 😀 true\n');
  });

  it('is the newest of concurrent runs, and nothing else is left', async () => {
    const entry = await writeEntry('console.log("here");');
    const made = await Promise.all([1, 2, 3].map(() => bundleDaemon({ entry, directory: join(directory, 'out') })));
    expect(await run(made[0]?.path ?? '')).toBe('here\n');
    expect(await readdir(join(directory, 'out'))).toEqual(['slipway-daemon.mjs']);
  });

  it('is refused if an import cannot be resolved', async () => {
    await expect(bundle(`import { x } from 'no-such-package'; console.log(x);`)).rejects.toThrow(/no-such-package/);
  });
});
