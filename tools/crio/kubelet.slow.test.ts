import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { resolveBinaries } from '../controlplane/index.ts';
import type { SystemdNode } from '../nspawn/node.ts';
import { pushImage, startRegistry, type RunningRegistry } from '../registry/index.ts';
import { kubeletFiles, makeCrioNode, startKubelet } from './index.ts';

const { parts } = inject('crio');
const nodes = inject('nodes').parts;

/** Its first garbage collection that can delete images. */
const PASS_MS = 300_000;
const CRICTL = 'crictl --runtime-endpoint unix:///run/crio/crio.sock';

describe.skipIf(parts === undefined || nodes === undefined)('the garbage collection of a real kubelet', () => {
  let registry: RunningRegistry;
  let node: SystemdNode;
  const images = async (): Promise<string[]> => {
    const listed = JSON.parse(await node.sh(`${CRICTL} images -o json`)) as { images: { repoDigests: string[] }[] };
    return listed.images.flatMap(({ repoDigests }) => repoDigests).toSorted();
  };

  beforeAll(async () => {
    if (parts === undefined || nodes === undefined) return;
    const { kubelet } = await resolveBinaries(['kubelet']);
    registry = await startRegistry({ auth: 'none' });
    node = await makeCrioNode({
      name: 'collects',
      ...nodes,
      programs: parts.programs,
      registries: [registry],
      files: kubeletFiles(kubelet),
      containers: { bytes: 256 * 2 ** 20 },
    });
    await node.boot();
  });
  afterAll(async () => {
    await node?.stop();
    await registry?.stop();
  });

  it('deletes unpinned images and keeps pinned ones, even if the store stays too full', async () => {
    const pulled: string[] = [];
    for (let number = 0; number < 8; number += 1) {
      const layers = [{ files: [{ path: `file-${number}`, randomBytes: 4 * 2 ** 20 }] }];
      const image = await pushImage(registry, `app-${number}`, { layers });
      await node.sh(`${CRICTL} pull ${image}`);
      pulled.push(image);
    }
    const pinned = pulled.slice(2, 5).toSorted();
    const dropIn = `[crio.image]\npinned_images = ${JSON.stringify(pinned)}\n`;
    await writeFile(join(node.root, '/etc/crio/crio.conf.d/50-pinned-images'), dropIn);
    await node.sh('systemctl reload crio.service');
    expect(await images()).toEqual(pulled.toSorted());
    // 3 pinned images of 4 MiB are more than 1 % of 256 MiB: it would have to delete them as well.
    await startKubelet(node, { imageGCHighThresholdPercent: 2, imageGCLowThresholdPercent: 1 });
    await vi.waitFor(async () => expect(await images()).toEqual(pinned), { timeout: PASS_MS + 60_000, interval: 5000 });
    expect(await node.sh('journalctl --no-pager -u kubelet.service')).toContain('Failed to free sufficient space');
    expect(await node.sh('systemctl is-active kubelet.service')).toBe('active\n');
  });
});
