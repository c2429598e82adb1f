import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// Counts signals, and stops a second after the first.
const ENTRY = `
  const got = [];
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {
    got.push(signal);
    if (got.length === 1) setTimeout(() => { console.log(got.join(' ')); process.exit(7); }, 1000);
  });
  setInterval(() => {}, 1000);
  console.log('running ' + process.argv.slice(2).join(' '));
`;

describe('a command that set-up runs', () => {
  let directory: string;
  let child: ChildProcess;
  let lines: Interface;
  let exited: Promise<unknown[]>;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-run-'));
    await writeFile(join(directory, 'entry.mjs'), ENTRY);
  });
  afterAll(() => rm(directory, { recursive: true }));

  const nextLine = async () => String((await once(lines, 'line'))[0]);

  async function start(entry = join(directory, 'entry.mjs')): Promise<void> {
    const source = `import { runEntry } from ${JSON.stringify(import.meta.resolve('./run.mjs'))};
      runEntry(process.execPath, ${JSON.stringify(entry)}, ['a', 'b c']);`;
    child = spawn(process.execPath, ['--input-type=module', '-e', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    // From the start: on a loaded machine, the exit can be reported before the last line.
    exited = once(child, 'exit');
    lines = createInterface(child.stdout ?? process.stdin);
  }
  const pid = () => child.pid ?? 0;

  it('receives Ctrl-C once, although its whole group and npm send it, and its exit code is kept', async () => {
    await start();
    expect(await nextLine()).toBe('running a b c');
    process.kill(-pid(), 'SIGINT');
    process.kill(pid(), 'SIGINT');
    expect(await nextLine()).toBe('SIGINT');
    expect(await exited).toEqual([7, null]);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('receives a %s that was sent to set-up alone, once', async (signal) => {
    await start();
    await nextLine();
    process.kill(pid(), signal);
    expect(await nextLine()).toBe(signal);
    expect(await exited).toEqual([7, null]);
  });

  it('is stopped when set-up is killed', async () => {
    await start();
    await nextLine();
    process.kill(pid(), 'SIGKILL');
    expect(await nextLine()).toBe('SIGTERM');
  });

  it('that dies of a signal makes set-up die of it too', async () => {
    const entry = join(directory, 'dies.mjs');
    await writeFile(entry, "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000);");
    await start(entry);
    expect(await exited).toEqual([null, 'SIGTERM']);
  });
});
