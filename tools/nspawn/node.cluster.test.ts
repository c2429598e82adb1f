import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { makeNode, type SystemdNode } from './node.ts';

const { parts } = inject('nodes');

describe.skipIf(parts === undefined)('a node with its own systemd', () => {
  let node: SystemdNode;
  beforeAll(async () => {
    if (parts === undefined) return;
    node = await makeNode({ name: 'bare', ...parts, files: { '/opt/node': process.execPath } });
    await writeFile(join(node.root, 'etc/before-boot'), 'there\n');
    await node.boot();
  });
  afterAll(() => node?.stop());

  it('boots without failed units, with its own name and the earlier files on its disk', async () => {
    expect(await node.sh('systemctl is-system-running && hostname && cat /etc/before-boot')).toBe(
      'running\nbare\nthere\n',
    );
    expect(await node.sh('/opt/node --version')).toBe(`${process.version}\n`);
  });

  it('cannot configure the network, which is that of this machine', async () => {
    const { code } = await node.exec(['sh', '-c', 'grep CapBnd /proc/1/status | grep -q "[13579bdf]...$"']);
    // Bit 12, CAP_NET_ADMIN, is the lowest of the fourth digit.
    expect(code).toBe(1);
  });

  it('has another boot id after a reboot, and keeps its disk', async () => {
    const before = await node.bootId();
    await node.sh('echo kept >/etc/kept; systemctl reboot');
    const after = await node.rebooted(before);
    expect(after).toMatch(/^[0-9a-f-]{36}$/);
    expect(await node.sh('cat /etc/kept')).toBe('kept\n');
  });

  it('stays off when its power is cut, and boots again from the same disk', async () => {
    await node.cutPower();
    expect(await node.exec(['true'])).toMatchObject({ code: 255, err: 'node bare is off' });
    expect(await readFile(join(node.root, 'etc/kept'), 'utf8')).toBe('kept\n');
    await node.boot();
    expect(await node.sh('cat /etc/kept')).toBe('kept\n');
  });

  it('leaves no process, mount, cgroup or directory behind, even if the process that created it is killed', async () => {
    const script = `
      import { makeNode } from ${JSON.stringify(join(import.meta.dirname, 'node.ts'))};
      const node = await makeNode({ name: 'orphan', ...${JSON.stringify(parts)} });
      await node.boot();
      console.log(JSON.stringify(node.disk));
      process.kill(process.pid, 'SIGKILL');
    `;
    const run = promisify(execFile)(process.execPath, ['--input-type=module-typescript', '-e', script]);
    const killed = await run.catch((error: { signal: string; stdout: string }) => error);
    expect(killed).toMatchObject({ signal: 'SIGKILL' });
    const disk = JSON.parse(killed.stdout) as SystemdNode['disk'];
    expect(disk.cgroups.length).toBeGreaterThan(0);
    await vi.waitFor(
      () => {
        const left = [`/proc/${disk.holder}`, dirname(disk.root), ...disk.cgroups].filter((path) => existsSync(path));
        expect(left).toEqual([]);
      },
      { timeout: 10_000 },
    );
    expect(await readFile('/proc/mounts', 'utf8')).not.toContain(dirname(disk.root));
  });
});
