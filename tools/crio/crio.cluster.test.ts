import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { pushImage, startRegistry, type RunningRegistry } from '../registry/index.ts';
import { makeCrioNode, startCrio, type RunningCrio } from './index.ts';

const { parts } = inject('crio');
const nodes = inject('nodes').parts;

const DROP_IN = '/etc/crio/crio.conf.d/50-pinned-images';
const pins = (images: readonly string[]): string => `[crio.image]\npinned_images = ${JSON.stringify(images)}\n`;

interface Listed {
  images: { repoDigests: string[]; pinned: boolean }[];
}

describe.skipIf(parts === undefined)('a real CRI-O', () => {
  let registry: RunningRegistry;
  let crio: RunningCrio;
  let image: string;
  const pull = (of: RunningCrio, reference: string, password = registry.password) =>
    of.crictl(['pull', '--creds', `${registry.username}:${password}`, reference]);
  const listed = async (of = crio) => {
    const { images } = JSON.parse(await of.crictl(['images', '-o', 'json'])) as Listed;
    return images.map(({ repoDigests, pinned }) => ({ digest: repoDigests[0], pinned }));
  };

  beforeAll(async () => {
    if (parts === undefined) return;
    registry = await startRegistry();
    image = await pushImage(registry, 'app', { layers: [{ files: [{ path: 'app', contents: 'one\n' }] }] });
    crio = await startCrio({ ...parts, registries: [registry] });
  });
  afterAll(async () => {
    await crio?.stop();
    await registry?.stop();
  });

  it('is the pinned version', async () => {
    expect(await crio.crictl(['version'])).toMatch(/RuntimeName: +cri-o\nRuntimeVersion: +1\.34\.0/);
  });

  it('pulls by digest from a registry with a certificate and a password, and not without', async () => {
    await expect(pull(crio, image, 'wrong')).rejects.toThrow(/unauthorized|authentication required/);
    await pull(crio, image);
    expect(await listed()).toEqual([{ digest: image, pinned: false }]);
  });

  it('pins the images of a drop-in after a reload, and unpins them when the drop-in is gone', async () => {
    await writeFile(join(crio.root, DROP_IN), pins([image]));
    await crio.reload();
    await vi.waitFor(async () => expect(await listed()).toEqual([{ digest: image, pinned: true }]), 10_000);
    await rm(join(crio.root, DROP_IN));
    await crio.reload();
    await vi.waitFor(async () => expect(await listed()).toEqual([{ digest: image, pinned: false }]), 10_000);
  });

  it('keeps its images when it is killed and restarted', async () => {
    const before = crio.pid();
    await crio.kill();
    await expect(listed()).rejects.toThrow(/connect/);
    await crio.start();
    expect(crio.pid()).not.toBe(before);
    expect(await listed()).toEqual([{ digest: image, pinned: false }]);
  });

  it('has a store of limited size, and reports when it is full', async () => {
    if (parts === undefined) return;
    const bytes = 16 * 2 ** 20;
    const small = await startCrio({ ...parts, name: 'small', registries: [registry], storeBytes: bytes });
    try {
      const { bsize, blocks } = await statfs(join(small.root, '/var/lib/containers/storage'));
      expect(bsize * blocks).toBe(bytes);
      const layers = [{ files: [{ path: 'large', randomBytes: 2 * bytes }] }];
      const large = await pushImage(registry, 'large', { layers });
      await expect(pull(small, large)).rejects.toThrow('no space left on device');
      await pull(small, image);
      expect(await listed(small)).toEqual([{ digest: image, pinned: false }]);
    } finally {
      await small.stop();
    }
  });

  it('leaves no process, mount, cgroup or directory behind, even if the process that started it is killed', async () => {
    const script = `
      import { startCrio } from ${JSON.stringify(join(import.meta.dirname, 'index.ts'))};
      const crio = await startCrio({ name: 'orphan', ...${JSON.stringify(parts)} });
      console.log(JSON.stringify({ root: crio.root, pid: crio.pid() }));
      process.kill(process.pid, 'SIGKILL');
    `;
    const run = promisify(execFile)(process.execPath, ['--input-type=module-typescript', '-e', script]);
    const killed = await run.catch((error: { signal: string; stdout: string }) => error);
    expect(killed).toMatchObject({ signal: 'SIGKILL' });
    const { root, pid } = JSON.parse(killed.stdout) as { root: string; pid: number };
    const directory = dirname(root.replace(/^\/proc\/\d+\/root/, ''));
    await vi.waitFor(() => {
      const left = [`/proc/${pid}`, directory, `${directory}.containers`].filter((path) => existsSync(path));
      expect(left).toEqual([]);
    }, 10_000);
    expect(await readFile('/proc/mounts', 'utf8')).not.toContain(directory);
  });

  it('runs as a service of a node with a systemd, which reloads it', async () => {
    if (parts === undefined || nodes === undefined) return;
    const node = await makeCrioNode({ name: 'crio-node', ...nodes, programs: parts.programs, registries: [registry] });
    try {
      await node.boot();
      expect(await node.sh('systemctl is-active crio.service')).toBe('active\n');
      const crictl = 'crictl --runtime-endpoint unix:///run/crio/crio.sock';
      await node.sh(`${crictl} pull --creds ${registry.username}:${registry.password} ${image}`);
      await writeFile(join(node.root, DROP_IN), pins([image]));
      const before = await node.sh('systemctl show -P MainPID crio.service');
      await node.sh('systemctl reload crio.service');
      await vi.waitFor(async () => {
        const { images } = JSON.parse(await node.sh(`${crictl} images -o json`)) as Listed;
        expect(images.map(({ pinned }) => pinned)).toEqual([true]);
      }, 10_000);
      expect(await node.sh('systemctl show -P MainPID crio.service')).toBe(before);
    } finally {
      await node.stop();
    }
  });
});
