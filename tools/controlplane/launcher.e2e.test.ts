import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { markers } from './arguments.ts';
import { resolveBinaries, startControlPlane, type ControlPlane, type ControlPlaneOptions } from './index.ts';
import { layout } from './layout.ts';
import { pickFreePort } from './ports.ts';
import { findByArgument } from './processes.ts';

let dataDir: string;
let binaries: Record<'etcd' | 'kube-apiserver' | 'kubectl', string>;
let running: ControlPlane | undefined;

beforeAll(async () => {
  binaries = await resolveBinaries(['etcd', 'kube-apiserver', 'kubectl']);
  dataDir = await mkdtemp(join(tmpdir(), 'slipway-launcher-'));
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
});
afterAll(() => rm(dataDir, { recursive: true }));

async function start(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  running = await startControlPlane({ dataDir, binaries, ...options });
  return running;
}

async function kubectl(kubeconfig: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(binaries.kubectl, ['--kubeconfig', kubeconfig, ...args]);
  return stdout;
}

const findPrograms = (dir: string) => findByArgument(new Set(Object.values(markers(layout(dir)))));

describe('a control plane', () => {
  it('is ready when start returns, keeps its data, and is as quick the second time', async () => {
    const first = await start();
    expect(await kubectl(first.kubeconfig, 'get', '--raw', '/readyz')).toBe('ok');
    await kubectl(first.kubeconfig, 'create', 'configmap', 'kept', '--from-literal=a=b');
    await first.stop();

    const began = performance.now();
    const second = await start();
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(await kubectl(second.kubeconfig, 'get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}')).toBe('b');
  });

  it('starts with the objects of a stopped one on request, and with new certificates', async () => {
    const copy = await startControlPlane({ copyOf: dataDir, binaries });
    try {
      expect(await kubectl(copy.kubeconfig, 'get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}')).toBe('b');
      expect(copy.dataDir).not.toBe(dataDir);
      expect(await readFile(layout(dataDir).authorityCertificate, 'utf8')).not.toBe(copy.ca);
    } finally {
      await copy.stop();
    }
  });

  it('starts from scratch on request, and does not touch foreign files', async () => {
    await writeFile(join(dataDir, 'notes.txt'), 'mine');
    const plane = await start({ fresh: true });
    await expect(kubectl(plane.kubeconfig, 'get', 'configmap', 'kept')).rejects.toThrow('not found');
    expect(await readFile(join(dataDir, 'notes.txt'), 'utf8')).toBe('mine');
  });
});

describe('a control plane that runs', () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane({ binaries });
  });
  afterAll(() => plane.stop());

  it('knows each user by the certificate in its kubeconfig, which only its owner can read', async () => {
    const path = await plane.kubeconfigFor({ user: 'system:node:a', groups: ['system:nodes', 'x'], name: 'node/a' });
    const { status } = JSON.parse(await kubectl(path, 'auth', 'whoami', '-o', 'json'));
    expect(status.userInfo.username).toBe('system:node:a');
    expect(status.userInfo.groups).toEqual(expect.arrayContaining(['system:nodes', 'x']));
    for (const file of [path, plane.kubeconfig, plane.caKeyPath, plane.serviceAccountKeyPath]) {
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
  });

  it('signs service account tokens that it accepts', async () => {
    await kubectl(plane.kubeconfig, 'create', 'serviceaccount', 'robot');
    const token = (await kubectl(plane.kubeconfig, 'create', 'token', 'robot')).trim();
    const ca = join(plane.dataDir, 'copy-of-ca.crt');
    await writeFile(ca, plane.ca);
    const access = ['--server', plane.url, '--certificate-authority', ca, '--token', token];
    const { status } = JSON.parse(await kubectl('/dev/null', ...access, 'auth', 'whoami', '-o', 'json'));
    expect(status.userInfo.username).toBe('system:serviceaccount:default:robot');
  });

  it('comes back on the same port with the same data after its API server was killed', async () => {
    await kubectl(plane.kubeconfig, 'create', 'configmap', 'before');
    await plane.killApiServer();
    await expect(kubectl(plane.kubeconfig, 'get', '--raw', '/readyz')).rejects.toThrow('refused');
    await plane.startApiServer();
    expect(await kubectl(plane.kubeconfig, 'get', 'configmap', 'before', '-o', 'name')).toBe('configmap/before\n');
  });

  it('locks its data directory, and a second launcher reports that', async () => {
    await expect(startControlPlane({ dataDir: plane.dataDir, binaries })).rejects.toMatchObject({
      code: 'SLW_TOOLS_DATA_DIR_IN_USE',
      message: expect.stringContaining(`is in use by process ${process.pid}`),
    });
  });

  it('reports a program that dies unexpectedly', async () => {
    process.kill(plane.pids()['etcd'] ?? 0, 'SIGKILL');
    expect((await plane.failed).message).toMatch(/^etcd died \(signal SIGKILL\)\. It logged.*\. Its log: .*etcd\.log$/);
  });

  it('leaves nothing when it is stopped, however often', async () => {
    await Promise.all([plane.stop(), plane.stop()]);
    await plane.stop();
    expect(await findPrograms(plane.dataDir)).toEqual([]);
    expect(existsSync(plane.dataDir)).toBe(false);
  });
});

describe('a control plane that cannot start', () => {
  it('because its port is taken names it, and how to choose another', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await expect(start({ port })).rejects.toMatchObject({
      code: 'SLW_TOOLS_PORT_TAKEN',
      message: expect.stringMatching(new RegExp(`^port ${port} .*--port$`)),
    });
    server.close();
    expect(await findPrograms(dataDir)).toEqual([]);
  });

  it('because a program dies shows the end of its log, and stops the others', async () => {
    const broken = join(dataDir, 'broken');
    await writeFile(broken, '#!/bin/sh\necho "it is broken"\nexit 7\n', { mode: 0o755 });
    await expect(start({ binaries: { ...binaries, 'kube-apiserver': broken } })).rejects.toMatchObject({
      code: 'SLW_TOOLS_START_FAILED',
      message: expect.stringMatching(/kube-apiserver died while starting \(exit code 7\)[^]*it is broken/),
    });
    expect(await findPrograms(dataDir)).toEqual([]);
  });

  it('because the data directory is unusable reports that', async () => {
    const file = join(dataDir, 'a-file');
    await writeFile(file, '');
    await expect(startControlPlane({ dataDir: file, binaries })).rejects.toMatchObject({ code: 'SLW_TOOLS_DATA_DIR' });
  });
});

describe('a launcher that is killed', () => {
  async function startLauncher(options: ControlPlaneOptions) {
    const source = `import { startControlPlane } from ${JSON.stringify(import.meta.resolve('./index.ts'))};
      const plane = await startControlPlane(${JSON.stringify({ ...options, binaries })});
      console.log(JSON.stringify([plane.dataDir, plane.kubeconfig]));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    const [line] = await once(createInterface(child.stdout), 'line');
    const [dir, kubeconfig]: string[] = JSON.parse(String(line));
    return { pid: child.pid ?? 0, exit: once(child, 'exit'), dir: dir ?? '', kubeconfig: kubeconfig ?? '' };
  }

  it('does not block one that starts immediately, on the same port and data', async () => {
    const port = await pickFreePort();
    const launcher = await startLauncher({ dataDir, port });
    await kubectl(launcher.kubeconfig, 'create', 'configmap', 'survivor');
    process.kill(launcher.pid, 'SIGKILL');
    await launcher.exit;
    const plane = await start({ port });
    expect(await kubectl(plane.kubeconfig, 'get', 'configmap', 'survivor', '-o', 'name')).toBe('configmap/survivor\n');
  });

  it('leaves nothing that the next start does not clean up, even when its watchdog is killed too', async () => {
    const launcher = await startLauncher({ dataDir });
    const watchdogs = await findByArgument(new Set(['slipway-watchdog']));
    const own = await withArgument(watchdogs, dataDir);
    expect(own).toHaveLength(1);
    for (const pid of own) process.kill(pid, 'SIGKILL');
    process.kill(launcher.pid, 'SIGKILL');
    await launcher.exit;
    const leftovers = await findPrograms(dataDir);
    expect(leftovers).toHaveLength(2);
    await start();
    const now = await findPrograms(dataDir);
    expect(now).toHaveLength(2);
    expect(now.filter((pid) => leftovers.includes(pid))).toEqual([]);
  });

  it('ends with its programs and its temporary directory, even if its whole group is killed', async () => {
    const launcher = await startLauncher({});
    process.kill(-launcher.pid, 'SIGKILL');
    await launcher.exit;
    await expect.poll(() => existsSync(launcher.dir), { timeout: 20_000 }).toBe(false);
    expect(await findPrograms(launcher.dir)).toEqual([]);
  });
});

async function withArgument(pids: number[], argument: string): Promise<number[]> {
  const also = new Set(await findByArgument(new Set([argument])));
  return pids.filter((pid) => also.has(pid));
}
