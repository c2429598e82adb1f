// A node with a real systemd and a real CRI-O, running the shipped daemon.
import { mkdir, writeFile } from 'node:fs/promises';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createDisk, writeCurrentConfig } from '@slipway/daemon';
import { bundleDaemon, daemonEnvironment, daemonFlags } from '@slipway/tools/bundle';
import { makeCrioNode, resolveCrio } from '@slipway/tools/crio';
import { resolveNodeImage, resolveNspawn, type SystemdNode } from '@slipway/tools/nspawn';
import type { RegistryAccess } from '@slipway/tools/registry';
import { buildConfig } from '../apply/configs.ts';

export const CONFIG = 'rendered-bench-none';
const DAEMON = 'machine-config-daemon.service';
const DAEMON_PATHS = ['/etc/crio/crio.conf.d/50-pinned-images', '/var/lib/machine-config-daemon/image-sizes.json'];
const PULLS_MS = 900_000;

export interface BenchNode {
  /** Removes all images and the daemon's state, and stops the runtime. */
  clear(): Promise<void>;
  /** The runtime and the daemon. */
  start(): Promise<void>;
  daemonPid(): Promise<number>;
  /** One image after another, each with a separate crictl; resolves with the milliseconds. */
  pullOneByOne(images: readonly string[]): Promise<number>;
  pullAtOnce(images: readonly string[], atOnce: number): Promise<number>;
  images(): Promise<{ readonly digest: string; readonly pinned: boolean }[]>;
  journal(): Promise<string>;
  stop(): Promise<void>;
}

export interface BenchNodeOptions {
  readonly name: string;
  readonly registry: RegistryAccess;
  readonly kubeconfig: string;
  /** For the bundle. */
  readonly directory: string;
}

export async function startBenchNode({ name, registry, kubeconfig, directory }: BenchNodeOptions): Promise<BenchNode> {
  const daemon = await bundleDaemon();
  const puller = await bundleDaemon({ entry: join(import.meta.dirname, 'plain-pulls.ts'), directory });
  const node = await makeCrioNode({
    name,
    image: await resolveNodeImage(),
    nspawn: await resolveNspawn(),
    programs: await resolveCrio(),
    registries: [registry],
    files: {
      '/opt/slipway/node': process.execPath,
      '/opt/slipway/daemon.mjs': daemon.path,
      '/opt/slipway/puller.mjs': puller.path,
    },
  });
  try {
    await prepare(node, registry, kubeconfig);
    await node.boot();
    return describe(node, registry);
  } catch (error) {
    await node.stop();
    throw error;
  }
}

async function prepare(node: SystemdNode, registry: RegistryAccess, kubeconfig: string): Promise<void> {
  const auth = Buffer.from(`${registry.username}:${registry.password}`).toString('base64');
  const environment = Object.entries(daemonEnvironment).map(([key, value]) => `Environment=${key}=${value}`);
  const start = ['/opt/slipway/node', ...daemonFlags, '/opt/slipway/daemon.mjs', 'daemon', '--node', node.name];
  const own = ['--kubeconfig', '/var/lib/kubelet/kubeconfig', '--probes', '127.0.0.1:0'];
  const files = {
    '/var/lib/kubelet/config.json': JSON.stringify({ auths: { [registry.host]: { auth } } }),
    '/var/lib/kubelet/kubeconfig': await readFile(kubeconfig, 'utf8'),
    [`/etc/systemd/system/${DAEMON}`]: [
      '[Service]',
      ...environment,
      `ExecStart=${[...start, ...own].join(' ')}`,
      '',
    ].join('\n'),
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(node.root, path)), { recursive: true });
    await writeFile(join(node.root, path), text, { mode: 0o600 });
  }
  await writeCurrentConfig(createDisk({ root: node.root }), buildConfig(CONFIG, []));
}

function describe(node: SystemdNode, { username, password }: RegistryAccess): BenchNode {
  const crictl = 'crictl --runtime-endpoint unix:///run/crio/crio.sock --timeout 600s';
  const order = async (name: string, text: string): Promise<void> =>
    writeFile(join(node.root, name), text, { mode: 0o600 });
  const run = async (command: readonly string[]): Promise<string> => {
    const { code, out, err } = await node.exec(command, { timeoutMs: PULLS_MS });
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${err.slice(-1000)}`);
    return out;
  };
  return {
    async clear() {
      await run(['systemctl', 'stop', DAEMON, 'crio.service']);
      await run(['sh', '-c', 'umount -l /var/lib/containers/storage/overlay; rm -rf /var/lib/containers/*; sync']);
      await run(['rm', '-f', ...DAEMON_PATHS, '/etc/machine-config-daemon/pinned-images.json']);
    },
    async start() {
      await run(['systemctl', 'start', 'crio.service', DAEMON]);
    },
    daemonPid: () => processWith(['--node', node.name]),
    async pullOneByOne(images) {
      await order('/root/images', `${images.join('\n')}\n`);
      const loop = `while read -r image; do ${crictl} pull --creds ${username}:${password} "$image" || exit 1; done </root/images`;
      const started = performance.now();
      await run(['sh', '-c', loop]);
      return performance.now() - started;
    },
    async pullAtOnce(images, atOnce) {
      await order('/root/order.json', JSON.stringify({ images, atOnce, username, password }));
      return (
        JSON.parse(await run(['/opt/slipway/node', '/opt/slipway/puller.mjs', '/root/order.json'])) as { ms: number }
      ).ms;
    },
    async images() {
      const { images } = JSON.parse(await run(['sh', '-c', `${crictl} images -o json`])) as Listed;
      return images.map(({ repoDigests, pinned }) => ({ digest: repoDigests[0] ?? '', pinned }));
    },
    journal: () => run(['sh', '-c', `journalctl --no-pager -o cat -u ${DAEMON} -u crio.service | tail -n 40`]),
    stop: () => node.stop(),
  };
}

interface Listed {
  readonly images: readonly { readonly repoDigests: readonly string[]; readonly pinned: boolean }[];
}

/** The process id on this machine. */
async function processWith(args: readonly string[]): Promise<number> {
  const wanted = `\0${args.join('\0')}\0`;
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (command.includes(wanted)) return Number(name);
  }
  throw new Error(`no process runs with ${args.join(' ')}`);
}
