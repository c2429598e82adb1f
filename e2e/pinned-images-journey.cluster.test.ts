// The whole way of an image to a machine: somebody lists it, the controllers tell the machine, and its daemon, a unit of a real
// systemd as it is shipped, has a real CRI-O pull and keep it. Only the kubelet is played.
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { machineConfigPools, pinnedImageSets } from '@slipway/api';
import { runSlipway } from '@slipway/testing/slipway-process';
import { reportReady } from '@slipway/testing/stand-in-kubelet';
import { until } from '@slipway/testing/wait';
import { pushImage, type RunningRegistry, startRegistry } from '@slipway/tools/registry';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Fleet, startFleet } from './first-boot/fleet.ts';
import { provisionMachine, probesConfig } from './node/machine.ts';
import { type Worker, createWorker } from './node/worker.ts';

const { parts } = inject('nodes');
const { parts: crio } = inject('crio');
const ignition = inject('ignitionClients').find(({ name }) => name === '2.24')?.client;
const DROP_IN = '/etc/crio/crio.conf.d/50-pinned-images';
const CRICTL = 'crictl --runtime-endpoint unix:///run/crio/crio.sock';

/** Machines begin within ten seconds of one another, by their names: this one begins at once. */
function promptName(): string {
  for (let number = 1; ; number += 1) {
    const name = `worker-${number}`;
    if (createHash('sha256').update(name).digest().readUInt32BE() < 2 ** 32 / 100) return name;
  }
}

interface PinStatusOutput {
  pools: { name: string; machines: Record<string, number>; sets: { name: string; nodes: object }[] }[];
}

describe.skipIf(parts === undefined || crio === undefined || ignition === undefined)(
  'images that somebody lists',
  () => {
    let fleet: Fleet;
    let registry: RunningRegistry;
    let worker: Worker;
    let kubeconfig: string;
    let images: string[];
    const slipway = async (...args: string[]): Promise<string> => {
      const { code, out, err } = await runSlipway(...args, '--kubeconfig', kubeconfig);
      expect({ code, err }).toMatchObject({ code: 0 });
      return out;
    };
    const shown = async () =>
      (JSON.parse(await slipway('pin', 'status', 'worker', '-o', 'json')) as PinStatusOutput).pools[0];
    /** As CRI-O on the machine says. */
    const listed = async (): Promise<{ image: string; pinned: boolean }[]> => {
      const { images: found } = JSON.parse(await worker.node.sh(`${CRICTL} images -o json`)) as {
        images: { repoDigests: string[]; pinned: boolean }[];
      };
      return found
        .map(({ repoDigests: [image = ''], pinned }) => ({ image, pinned }))
        .toSorted((a, b) => (a.image < b.image ? -1 : 1));
    };
    const all = (pinned: boolean) => images.map((image) => ({ image, pinned }));
    const poolHolds = (machines: number | undefined) =>
      until(async () => {
        const { status } = await fleet.client.get(machineConfigPools, { name: 'worker' });
        expect(status?.poolSynchronizersStatus?.[0]?.updatedMachineCount).toBe(machines);
      }, 'rollout');

    beforeAll(async () => {
      if (parts === undefined || crio === undefined || ignition === undefined) return;
      [fleet, registry] = await Promise.all([startFleet('--feature-gates=PinnedImages=true'), startRegistry()]);
      await fleet.addMachineConfig('40-probes', 'worker', probesConfig(0));
      await fleet.rendered('worker', ['00-worker', '40-probes']);
      const name = promptName();
      const { programs } = crio;
      worker = createWorker(
        fleet,
        await provisionMachine({ name, fleet, parts, ignition, crio: { programs, registries: [registry] } }),
      );
      const auth = Buffer.from(`${registry.username}:${registry.password}`).toString('base64');
      const secret = JSON.stringify({ auths: { [registry.host]: { auth } } });
      await writeFile(join(worker.node.root, 'var/lib/kubelet/config.json'), secret, { mode: 0o600 });
      await writeFile(join(fleet.directory, 'pull-secret.json'), secret, { mode: 0o600 });
      await writeFile(join(fleet.directory, 'ca.crt'), registry.ca);
      const push = (image: string) =>
        pushImage(registry, `team/${image}`, { layers: [{ files: [{ path: image, randomBytes: 2000 }] }] });
      images = (await Promise.all(['one', 'two', 'three'].map(push))).toSorted();
      kubeconfig = await fleet.kubeconfigFor({ user: 'admin', groups: ['system:masters'], name: 'admin' });
      await worker.node.boot();
      await reportReady(fleet.client, name);
    }, 180_000);
    afterEach(async ({ task }) => {
      if (task.result?.state === 'fail') console.error(await worker.says(), await worker.journal().catch(String));
    });
    afterAll(async () => {
      await worker?.node.stop();
      await registry?.stop();
      await fleet?.stop();
    }, 60_000);

    it('come to the machine and are pinned there, and the pool and the command say so', async () => {
      const list = join(fleet.directory, 'shop.txt');
      await writeFile(list, `# the shop\n${images.join('\n')}\n`);
      const access = ['--pull-secret', join(fleet.directory, 'pull-secret.json')];
      const ca = ['--registry-ca', join(fleet.directory, 'ca.crt')];
      await slipway('pin', 'images', list, '--pool', 'worker', '--name', 'shop', '--yes', ...access, ...ca);
      await poolHolds(1);
      expect(await listed()).toEqual(all(true));
      expect(await worker.file(DROP_IN)).toContain(images[0]);
      expect(await shown()).toMatchObject({
        name: 'worker',
        machines: { total: 1, pinned: 1 },
        sets: [{ name: 'shop', nodes: { done: 1, total: 1 } }],
      });
      expect(await slipway('pin', 'status')).toMatch(/shop/);
      expect(await worker.node.sh('systemctl is-active crio.service')).toBe('active\n');
    });

    it('are not pinned any more when their set is deleted', async () => {
      await fleet.client.delete(pinnedImageSets, { name: 'shop' }, {});
      await until(async () => expect(await listed()).toEqual(all(false)), 'rollout');
      expect(worker.exists(DROP_IN)).toBe(false);
      await until(async () => expect((await shown())?.sets).toEqual([]), 'rollout');
    });
  },
);
