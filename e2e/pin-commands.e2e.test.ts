// `slipway pin` against a real registry with a release and a real control plane. The machines are Node objects; the test
// reports for their daemons.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  machineConfigNodes,
  machineConfigPools,
  nodes,
  pinAssignmentAnnotation,
  pinnedImageSets,
  ROLE_LABEL,
} from '@slipway/api';
import { decodeAssignment, encodeAssignment, formatPinProgress, type PinProgress } from '@slipway/fleet';
import { runInProcess } from '@slipway/slipway/testing/in-process';
import { readSettledAuditLog } from '@slipway/testing/audit';
import { customPool, machineConfigPool, node } from '@slipway/testing/builders';
import { waitForExit, startSlipway } from '@slipway/testing/slipway-process';
import { until } from '@slipway/testing/wait';
import {
  type Payload,
  pushImage,
  pushLayer,
  pushPayload,
  removeImage,
  type RunningRegistry,
  startRegistry,
} from '@slipway/tools/registry';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Fleet, startFleet } from './render/fleet.ts';

const viewer = { user: 'looks-only', groups: ['system:masters'], name: 'looks-only' };
const SHARED = 400_000;
const OWN = 100_000;

let fleet: Fleet;
let registry: RunningRegistry;
let payload: Payload;
let directory: string;
/** Kubeconfig of a user whose requests are counted. */
let viewerKubeconfig: string;
let access: string[];
let components: Record<string, string>;

const path = (name: string): string => join(directory, name);
const pin = (...args: string[]) => runInProcess('pin', ...args, '--kubeconfig', fleet.controlPlane.kubeconfig);
const release = (...args: string[]) => pin('release', payload.releaseImage, ...access, ...args);
const setsNow = async () =>
  (await Array.fromAsync(fleet.admin.list(pinnedImageSets))).sort((a, b) =>
    a.metadata.name < b.metadata.name ? -1 : 1,
  );

const byText = (a: string, b: string): number => (a < b ? -1 : 1);

interface Plan {
  images: number;
  bytes: number | null;
  diskBytes: number | null;
  pools: string[];
  sets: { name: string; change: string; images: string[] }[];
  nodes: { node: string; verdict: string; neededBytes: number | null; usableBytes: number | null }[];
  notes: string[];
  written: boolean;
}

async function addNode(name: string, ...roles: string[]): Promise<void> {
  await fleet.admin.create(nodes, node(name, { pools: roles }));
  await fleet.breakGlass.create(machineConfigNodes, {
    metadata: { name },
    spec: { node: { name }, pool: { name: 'worker' }, configVersion: { desired: 'not-yet-set' } },
  });
}

interface NodePinStatus extends Partial<PinProgress> {
  readonly isPulling?: boolean;
  readonly failure?: string;
  /** Sets whose current generation is pinned. */
  readonly holds?: readonly string[];
}

/** Writes what the daemon of a node would; every set is assigned to it. */
async function reportPins(
  name: string,
  { isPulling = false, failure, holds = [], ...progress }: NodePinStatus,
): Promise<void> {
  const sets = (await setsNow()).map(({ metadata }) => ({
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation ?? 1,
  }));
  const message = formatPinProgress({
    sets: [],
    bytes: null,
    bytesPerSecond: null,
    secondsLeft: null,
    waitsFor: '',
    lastError: '',
    store: null,
    ...progress,
  });
  const condition = (type: string, isTrue: boolean, reason: string, text: string) => ({
    type,
    status: isTrue ? 'True' : 'False',
    reason: isTrue ? reason : 'AsExpected',
    message: text,
    lastTransitionTime: new Date().toISOString(),
  });
  const told = { [pinAssignmentAnnotation]: encodeAssignment({ sets, mayPull: true, parallel: 5 }) };
  await fleet.breakGlass.patch(
    machineConfigNodes,
    { name },
    { type: 'merge', body: { metadata: { annotations: told } } },
    {},
  );
  const status = {
    conditions: [
      condition('PinnedImageSetsProgressing', isPulling, 'ImagePrefetch', message),
      condition('PinnedImageSetsDegraded', failure !== undefined, 'PrefetchFailed', failure ?? 'all is well'),
    ],
    pinnedImageSets: sets.map(({ name: set, generation }) =>
      holds.includes(set)
        ? { name: set, desiredGeneration: generation, currentGeneration: generation }
        : { name: set, desiredGeneration: generation },
    ),
  };
  await fleet.breakGlass.patch(
    machineConfigNodes,
    { name },
    { type: 'merge', body: { status } },
    {},
    { subresource: 'status' },
  );
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'slipway-pin-'));
  [fleet, registry] = await Promise.all([startFleet(), startRegistry()]);
  const shared = await pushLayer(registry, 'openshift/component', { files: [{ path: 'base', randomBytes: SHARED }] });
  components = {};
  for (const name of ['cli', 'etcd', 'console']) {
    components[name] = await pushImage(registry, 'openshift/component', {
      layers: [shared, { files: [{ path: name, randomBytes: OWN }] }],
    });
  }
  payload = await pushPayload(registry, {
    version: '4.22.0',
    streams: [{ tag: 'rhel-coreos', name: 'rhel-9', version: '9.6.20251201-1' }],
    components: { ...components, 'cli-artifacts': components['cli'] ?? '' },
  });
  const auth = Buffer.from(`${registry.username}:${registry.password}`).toString('base64');
  await writeFile(path('pull-secret.json'), JSON.stringify({ auths: { [registry.host]: { auth } } }), { mode: 0o600 });
  await writeFile(path('ca.crt'), registry.ca);
  access = ['--pull-secret', path('pull-secret.json'), '--registry-ca', path('ca.crt')];
  viewerKubeconfig = await fleet.controlPlane.kubeconfigFor(viewer);
  for (const name of ['master', 'worker']) {
    await fleet.breakGlass.create(machineConfigPools, machineConfigPool(name));
  }
  await fleet.admin.create(machineConfigPools, customPool('infra'));
  await addNode('worker-1', 'worker');
  await addNode('worker-2', 'worker');
  await addNode('infra-1', 'worker', 'infra');
  await addNode('master-1', 'master');
}, 180_000);

afterAll(async () => {
  await fleet.stop();
  await registry.stop();
  await rm(directory, { recursive: true });
}, 60_000);

const nameSets = (...names: string[]) => {
  const body = { spec: { pinnedImageSets: names.length === 0 ? null : names.map((name) => ({ name })) } };
  return fleet.admin.patch(machineConfigPools, { name: 'worker' }, { type: 'merge', body }, {});
};

beforeEach(async () => {
  await nameSets();
  for (const { metadata } of await setsNow()) await fleet.admin.delete(pinnedImageSets, { name: metadata.name }, {});
  for (const name of ['worker-1', 'worker-2', 'infra-1']) await reportPins(name, {});
});

describe('slipway pin release', () => {
  it('shows all images of the release with --dry-run, their sizes and where they fit, and writes nothing', async () => {
    await reportPins('worker-1', { store: { free: 4e6, size: 5e6 } });
    await reportPins('worker-2', { store: { free: 1e6, size: 5e6 } });
    const args = ['release', payload.releaseImage, ...access, '--pool', 'worker', '--dry-run'];
    const { code, out, err } = await runInProcess('pin', ...args, '-o', 'json', '--kubeconfig', viewerKubeconfig);
    expect({ code, err }).toEqual({ code: 2, err: '' });
    const plan = JSON.parse(out) as Plan;
    const os = payload.os.get('rhel-9');
    const all = [payload.releaseImage, os?.osImage ?? '', os?.osExtensionsImage ?? '', ...Object.values(components)];
    expect(plan).toMatchObject({
      source: { release: payload.releaseImage, version: '4.22.0' },
      images: 6,
      pool: 'worker',
      // Custom pools also get the sets of worker.
      pools: ['infra', 'worker'],
      sets: [
        {
          name: 'release-4.22.0-worker',
          change: 'make',
          labels: { [ROLE_LABEL]: 'worker' },
          images: all.toSorted(byText),
        },
      ],
      nodes: [
        { node: 'infra-1', verdict: 'not known', usableBytes: null },
        { node: 'worker-1', verdict: 'fits', usableBytes: 3_500_000 },
        { node: 'worker-2', verdict: 'may not fit', usableBytes: 500_000 },
      ],
      written: false,
    });
    // The layer that three images share counts once.
    expect(plan.bytes).toBeGreaterThan(SHARED + 3 * OWN);
    expect(plan.bytes).toBeLessThan(2 * SHARED + 3 * OWN);
    expect(plan.diskBytes).toBe(2 * (plan.bytes ?? 0));
    expect(plan.nodes[1]?.neededBytes).toBe(plan.diskBytes);

    const text = await runInProcess('pin', ...args, '--kubeconfig', viewerKubeconfig);
    expect(text.code).toBe(2);
    expect(text.out).toMatch(
      /version 4\.22\.0, 6 images\nEach machine downloads at most 70\d\.\d kB and needs at most 1\.4 MB/,
    );
    expect(text.out).toContain('It may not fit on 1 machine: worker-2.');
    expect(text.out).toMatch(/^release-4\.22\.0-worker +6 +new$/m);
    expect(text.out).toMatch(/^worker-1 +fits +1\.4 MB +3\.5 MB$/m);
    expect(text.out).toContain('Nothing was written (--dry-run).');
    expect(await setsNow()).toEqual([]);
    const requests = await readSettledAuditLog(fleet.controlPlane.auditLog, viewer.user);
    expect(new Set(requests.map(({ verb }) => verb))).toEqual(new Set(['get', 'list']));
  });

  it('creates the set; a second run changes nothing', async () => {
    const { code, out } = await release('--pool', 'worker', '--yes');
    expect(code).toBe(0);
    expect(out).toContain('Follow them with: slipway pin status worker --watch');
    const [set, ...others] = await setsNow();
    expect(others).toEqual([]);
    expect(set).toMatchObject({ metadata: { name: 'release-4.22.0-worker', labels: { [ROLE_LABEL]: 'worker' } } });
    expect(set?.spec.pinnedImages).toHaveLength(6);
    const again = await release('--pool', 'worker', '--yes');
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('nothing was written') });
    expect((await setsNow())[0]?.metadata.resourceVersion).toBe(set?.metadata.resourceVersion);
  });

  it('pins for the machines of a custom pool only, on request', async () => {
    const { out } = await release('--pool', 'infra', '--name', 'next', '--yes', '-o', 'json');
    expect(JSON.parse(out)).toMatchObject({ pools: ['infra'], nodes: [{ node: 'infra-1' }], written: true });
    expect(await setsNow()).toMatchObject([{ metadata: { name: 'next', labels: { [ROLE_LABEL]: 'infra' } } }]);
  });

  it('needs no disk space on a machine that has all images', async () => {
    await release('--pool', 'worker', '--yes');
    await reportPins('worker-1', { store: { free: 600_000, size: 5e6 }, holds: ['release-4.22.0-worker'] });
    const { out } = await release('--pool', 'worker', '--dry-run', '-o', 'json');
    const { nodes: fits } = JSON.parse(out) as Plan;
    expect(fits.find(({ node }) => node === 'worker-1')).toMatchObject({ verdict: 'fits', neededBytes: 0 });
  });

  it('writes nothing without a terminal to confirm on', async () => {
    const { code, thrown, err } = await release('--pool', 'worker');
    expect({ code, thrown }).toEqual({ code: 1, thrown: 'SLW_CLI_USAGE' });
    expect(err).toContain('--yes');
    expect(await setsNow()).toEqual([]);
  });

  it('refuses a release with images missing in the registry, and names them', async () => {
    const gone = await pushImage(registry, 'openshift/gone', { layers: [{ files: [{ path: 'a', contents: 'a' }] }] });
    const broken = await pushPayload(registry, { version: '4.22.1', streams: [], components: { ...components, gone } });
    await removeImage(registry, gone);
    const { code, out, err } = await pin('release', broken.releaseImage, ...access, '--pool', 'worker', '--yes');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^slipway: .*openshift\/gone@sha256.*\[SLW_REGISTRY_NOT_FOUND\]\n$/);
    expect(await setsNow()).toEqual([]);
    const unasked = ['release', broken.releaseImage, ...access, '--pool', 'worker', '--no-sizes', '--yes'];
    expect(await pin(...unasked)).toMatchObject({ code: 0, out: expect.stringContaining('(--no-sizes)') });
    expect(await setsNow()).toMatchObject([{ metadata: { name: 'release-4.22.1-worker' } }]);
  });

  it.each([
    ['a missing pool', () => [payload.releaseImage, '--pool', 'wroker'], 'SLW_CLI_NO_POOL', 'Did you mean worker'],
    ['an image that is not a release', () => [components['cli'] ?? '', '--pool', 'worker'], '', '[SLW_CLI_PIN_IMAGES]'],
    ['credentials that are missing', () => [payload.releaseImage, '--pool', 'worker'], 'SLW_REGISTRY_UNAUTHORIZED', ''],
  ])('refuses %s', async (what, args, thrown, words) => {
    const flags = what.startsWith('credentials') ? access.slice(2) : access;
    const ran = await pin('release', ...args(), ...flags, '--yes');
    expect({ code: ran.code, out: ran.out, thrown: ran.thrown ?? '' }).toEqual({ code: 1, out: '', thrown });
    expect(ran.err).toContain(words);
    expect(await setsNow()).toEqual([]);
  });
});

describe('slipway pin images', () => {
  const fake = (index: number): string => `registry.example.com/shop/app@sha256:${String(index).padStart(64, '0')}`;
  const list = (count: number): string => Array.from({ length: count }, (_, index) => `${fake(index)}\n`).join('');
  const images = (...args: string[]) => pin('images', path('shop.txt'), '--pool', 'worker', '--yes', ...args);

  it('creates a set from a list, updates it with the list, and reports what remains of a longer one', async () => {
    await writeFile(path('shop.txt'), `# the shop\n${list(501)}`);
    expect(await images('--no-sizes')).toMatchObject({ code: 0 });
    expect((await setsNow()).map(({ metadata, spec }) => [metadata.name, spec.pinnedImages.length])).toEqual([
      ['shop-worker', 500],
      ['shop-worker-2', 1],
    ]);
    await writeFile(path('shop.txt'), list(3).replace(fake(0), fake(900)));
    const { code, out } = await images('--no-sizes', '-o', 'json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      sets: [{ name: 'shop-worker', change: 'change', added: 1, removed: 498 }],
      notes: [expect.stringContaining('kubectl delete pinnedimageset shop-worker-2')],
      written: true,
    });
    expect(await setsNow()).toMatchObject([
      {
        metadata: { generation: 2 },
        spec: { pinnedImages: [{ name: fake(900) }, { name: fake(1) }, { name: fake(2) }] },
      },
      { metadata: { name: 'shop-worker-2' } },
    ]);
  });

  it('checks every image in the registry before any machine pulls', async () => {
    await writeFile(path('shop.txt'), `${components['cli']}\n${components['etcd']}\n`);
    const { out } = await images(...access, '-o', 'json');
    expect((JSON.parse(out) as Plan).bytes).toBeGreaterThan(SHARED + 2 * OWN);
    await writeFile(path('shop.txt'), `${components['cli']?.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))}\n`);
    expect(await images(...access)).toMatchObject({
      code: 1,
      err: expect.stringContaining('[SLW_REGISTRY_NOT_FOUND]'),
    });
  });

  it('reports invalid lines, and writes nothing', async () => {
    await writeFile(path('shop.txt'), `${fake(1)}\nregistry.example.com/shop/app:latest\nshop\n`);
    const { code, err } = await images('--no-sizes');
    expect(code).toBe(1);
    expect(err.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^slipway: line 2: .*by digest.*\[SLW_CLI_PIN_IMAGES\]$/),
      expect.stringMatching(/^slipway: line 3: /),
    ]);
    expect(await setsNow()).toEqual([]);
  });
});

describe('slipway pin status', () => {
  const amount = (done: number, total: number) => ({ done, total });
  const progress = (done: number): NodePinStatus => ({
    sets: [{ name: 'shop', images: amount(done, 4), bytes: amount(done * 1e9, 4e9) }],
    bytes: amount(done * 1e9, 4e9),
  });

  beforeEach(async () => {
    const pinnedImages = Array.from({ length: 4 }, (_, index) => ({
      name: `registry.example.com/shop/app@sha256:${String(index).padStart(64, '0')}`,
    }));
    await fleet.admin.create(pinnedImageSets, {
      metadata: { name: 'shop', labels: { [ROLE_LABEL]: 'worker' } },
      spec: { pinnedImages },
    });
    await nameSets('shop');
    await reportPins('worker-1', { ...progress(4), holds: ['shop'] });
    await reportPins('worker-2', { ...progress(1), isPulling: true, bytesPerSecond: 1e8, secondsLeft: 30 });
    await reportPins('infra-1', {
      ...progress(0),
      failure: 'shop: app@sha256:1: denied [SLW_PINNING_PULL]',
      isPulling: true,
    });
  });

  it('has bars, images, bytes, rate, time left and the last error of every machine', async () => {
    const { code, out } = await pin('status', 'worker');
    expect(code).toBe(0);
    expect(out).toMatch(/^worker: degraded {2}1 set, 3 machines$/m);
    expect(out).toContain('5 of 12 images, 5.0 GB of 12.0 GB, 100.0 MB/s, about 30 s left');
    expect(out).toMatch(/worker-1 +pinned +\[#{20}\] +4 of 4 +4\.0 GB of 4\.0 GB +- +-$/m);
    expect(out).toMatch(/worker-2 +pulling +\[#{5}-{15}\] +1 of 4 +1\.0 GB of 4\.0 GB +100\.0 MB\/s +30 s$/m);
    expect(out).toMatch(/infra-1 +degraded .*denied \[SLW_PINNING_PULL\]$/m);
    const { out: json } = await pin('status', '-o', 'json');
    expect(JSON.parse(json)).toMatchObject({
      pools: [
        {
          name: 'infra',
          problems: [expect.stringContaining('the controller has not added it to spec.pinnedImageSets')],
        },
        { name: 'master', sets: [], problems: [] },
        {
          name: 'worker',
          machines: { total: 3, pinned: 1, pulling: 1, degraded: 1, waiting: 0, notBegun: 0 },
          sets: [{ name: 'shop', images: 4, nodes: { done: 1, total: 3 } }],
        },
      ],
    });
    expect(await pin('status', 'wroker')).toMatchObject({ thrown: 'SLW_CLI_NO_POOL' });
  });

  it('follows the machines with one line per change', async () => {
    const watch = startSlipway('pin', 'status', 'worker', '--watch', '--kubeconfig', fleet.controlPlane.kubeconfig);
    await watch.saw(/worker\/worker-2: pulling: 1 of 4 images, 1\.0 GB of 4\.0 GB, 100\.0 MB\/s, about 30 s left/);
    await reportPins('worker-2', { ...progress(4), holds: ['shop'] });
    await watch.saw(/worker\/worker-2: pulling → pinned: 4 of 4 images/);
    await until(() => expect(watch.out()).toContain('worker: 2 of 3 machines pinned, 1 degraded: shop on 2 of 3'));
    watch.child.kill('SIGINT');
    expect(await waitForExit(watch)).toMatchObject({ code: 0, err: '' });
  }, 60_000);
});

describe('with running controllers', () => {
  it('a pinned release reaches the pools and machines of the plan', async () => {
    await fleet.controller('--feature-gates', 'PinnedImages=true');
    const { out } = await release('--pool', 'worker', '--yes', '-o', 'json');
    const { pools, nodes: fits } = JSON.parse(out) as Plan;
    await until(async () => {
      const report = JSON.parse((await pin('status', '-o', 'json')).out) as {
        pools: { name: string; problems: string[]; sets: { name: string }[]; nodes: { name: string }[] }[];
      };
      const having = report.pools.filter(({ sets }) => sets.some(({ name }) => name === 'release-4.22.0-worker'));
      expect(having.map(({ name }) => name)).toEqual(pools);
      expect(report.pools.flatMap(({ problems }) => problems)).toEqual([]);
      const names = new Set(having.flatMap((pool) => pool.nodes.map(({ name }) => name)));
      expect([...names].toSorted(byText)).toEqual(fits.map(({ node }) => node));
      const pulling: string[] = [];
      for (const { node } of fits) {
        const { metadata } = await fleet.admin.get(machineConfigNodes, { name: node });
        const assignment = decodeAssignment(metadata.annotations?.[pinAssignmentAnnotation] ?? '');
        expect(assignment).toMatchObject({ sets: [{ name: 'release-4.22.0-worker' }] });
        if (assignment?.mayPull === true) pulling.push(node);
      }
      // One machine of a pool goes first, and no daemon runs here.
      expect(pulling.length).toBeGreaterThan(0);
    });
  }, 60_000);
});
