import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { endByArgument, findByArgument, parsePsLine } from './processes.ts';

// The shell prints when it is ready, and by then the trap is set.
async function startShell(script: string, argument: string) {
  const child = spawn('/bin/sh', ['-c', `${script}; echo ready; while :; do read -r line; done`, 'sh', argument], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  return child;
}

describe('processes identified by an argument', () => {
  it('are found by the whole argument, not by a part of it', async () => {
    const argument = `--data-dir=/nowhere/${randomUUID()}`;
    const child = await startShell(':', argument);
    expect(await findByArgument(new Set([argument]))).toEqual([child.pid]);
    expect(await findByArgument(new Set([argument.slice(0, -1)]))).toEqual([]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await findByArgument(new Set([argument]))).toEqual([]);
  });

  it('are ended even if they ignore SIGTERM', async () => {
    const argument = `--data-dir=/nowhere/${randomUUID()}`;
    const child = await startShell("trap '' TERM", argument);
    const exit = once(child, 'exit');
    await endByArgument(new Set([argument]), 100);
    expect(await findByArgument(new Set([argument]))).toEqual([]);
    expect((await exit)[1]).toBe('SIGKILL');
  });

  it('as ps lists them, where a directory may have a space in its name', () => {
    expect(parsePsLine('  501 /bin/etcd --data-dir=/Users/a b/etcd --name=slipway')).toEqual({
      pid: 501,
      args: ['/bin/etcd', '--data-dir=/Users/a b/etcd', '--name=slipway'],
    });
    expect(parsePsLine('')).toEqual({ pid: 0, args: [''] });
  });
});
