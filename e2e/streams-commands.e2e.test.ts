// `slipway streams` against a real registry with a release, a real control plane and real controllers. The machines are Node
// objects that follow their desired config when a test asks them to.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  machineConfigPools,
  machineConfigs,
  namespaces,
  nodeAnnotations,
  nodes,
  osImageStreamKind,
  osImageStreams,
  secrets,
  validate,
} from '@slipway/api';
import type { KubeObject } from '@slipway/kube';
import { runInProcess } from '@slipway/slipway/testing/in-process';
import { readSettledAuditLog } from '@slipway/testing/audit';
import { customPool, node } from '@slipway/testing/builders';
import { runSlipway } from '@slipway/testing/slipway-process';
import { addReadyNode, obeyDesiredConfig } from '@slipway/testing/stand-in-kubelet';
import { until } from '@slipway/testing/wait';
import { type Payload, pushPayload, type RunningRegistry, startRegistry } from '@slipway/tools/registry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { findPool, type Fleet, startFleet } from './render/fleet.ts';

const viewer = { user: 'looks-only', groups: ['system:masters'], name: 'looks-only' };

let fleet: Fleet;
let registry: RunningRegistry;
let payload: Payload;
let directory: string;
/** Kubeconfig of a user whose requests are counted. */
let viewerKubeconfig: string;
const access: string[] = [];

const path = (name: string): string => join(directory, name);
const inspect = (...args: string[]) => runInProcess('streams', 'inspect', ...args);
const streams = (...args: string[]) => runInProcess('streams', ...args, '--kubeconfig', fleet.controlPlane.kubeconfig);
const migrate = (...args: string[]) => runInProcess('streams', 'migrate', ...args, '--kubeconfig', viewerKubeconfig);

async function json<T>(ran: Promise<{ code: number | null; out: string; err: string }>): Promise<T> {
  const { code, out, err } = await ran;
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as T;
}

interface Report {
  defaultStream: string | null;
  streams: { name: string; pools: string[] }[];
  pools: { name: string; state: string; stream: string | null; reached: string | null }[];
}
const report = (): Promise<Report> => json<Report>(streams('-o', 'json'));
const pool = async (name: string) => (await report()).pools.find((each) => each.name === name);

const annotateNode = (name: string, annotations: Record<string, string>) =>
  fleet.admin.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations } } }, {});

async function addNode(name: string, role: string): Promise<void> {
  await addReadyNode(fleet.admin, node(name, { pools: ['worker', role] }));
  const config = (await findPool(fleet.admin, role))?.spec.configuration?.name ?? '';
  await annotateNode(name, { [nodeAnnotations.currentConfig]: config, [nodeAnnotations.state]: 'Done' });
}

/** All machines follow their desired config until the whole pool is on the stream. */
const untilReached = (name: string, stream: string): Promise<void> =>
  until(async () => {
    for (const machine of ['worker-1', 'infra-1', 'infra-2']) await obeyDesiredConfig(fleet.admin, machine);
    expect(await pool(name)).toMatchObject({ state: 'on stream', stream, reached: stream });
  }, 'rollout');

const readOsImage = async (name: string): Promise<string | undefined> => {
  const config = (await findPool(fleet.admin, name))?.spec.configuration?.name ?? '';
  return (await fleet.admin.find(machineConfigs, { name: config }))?.spec?.osImageURL;
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'slipway-streams-'));
  [fleet, registry] = await Promise.all([startFleet(), startRegistry()]);
  payload = await pushPayload(registry, {
    version: '4.22.0',
    streams: [
      {
        tag: 'rhel-coreos',
        name: 'rhel-9',
        version: '9.6.20251201-1',
        lifecycle: { state: 'deprecated', successor: 'rhel-10', message: 'Ends in 2027' },
      },
      { tag: 'rhel-coreos-10', name: 'rhel-10', version: '10.1.20251202-0', randomBytes: 300_000 },
      { tag: 'stream-coreos', name: 'centos-10', version: '10.0', withoutExtensions: true },
    ],
  });
  const auth = Buffer.from(`${registry.username}:${registry.password}`).toString('base64');
  const pullSecret = JSON.stringify({ auths: { [registry.host]: { auth } } });
  await writeFile(path('pull-secret.json'), pullSecret, { mode: 0o600 });
  await writeFile(path('ca.crt'), registry.ca);
  await writeFile(path('image-references'), JSON.stringify(payload.imageReferences));
  access.push('--pull-secret', path('pull-secret.json'), '--registry-ca', path('ca.crt'));
  viewerKubeconfig = await fleet.controlPlane.kubeconfigFor(viewer);
  await fleet.admin.create(namespaces, { metadata: { name: 'openshift-config' } });
  await fleet.admin.create(secrets, {
    metadata: { namespace: 'openshift-config', name: 'pull-secret' },
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': Buffer.from(pullSecret).toString('base64') },
  });
}, 180_000);

afterAll(async () => {
  await fleet.stop();
  await registry.stop();
  await rm(directory, { recursive: true });
}, 60_000);

describe('slipway streams inspect', () => {
  it('shows the streams of a release image: versions, sizes, lifecycle, default, and what was left out', async () => {
    const found = await json(inspect(payload.releaseImage, ...access, '-o', 'json'));
    expect(found).toMatchObject({
      version: '4.22.0',
      defaultStream: 'rhel-9',
      streams: [
        {
          name: 'rhel-10',
          isDefault: false,
          lifecycle: null,
          os: { image: payload.os.get('rhel-10')?.osImage, version: '10.1.20251202-0', bytes: expect.any(Number) },
          extensions: { image: payload.os.get('rhel-10')?.osExtensionsImage },
        },
        { name: 'rhel-9', isDefault: true, lifecycle: { state: 'deprecated', successor: 'rhel-10' } },
      ],
      notes: [{ code: 'SLW_STREAM_PARTIAL', message: expect.stringContaining('centos-10') }],
      problems: [],
    });
    const [{ os }] = (found as { streams: [{ os: { bytes: number } }] }).streams;
    expect(os.bytes).toBeGreaterThan(300_000);
    expect(await json(inspect('--image-references', path('image-references'), ...access, '-o', 'json'))).toEqual({
      ...(found as object),
      release: path('image-references'),
    });
  });

  it('prints them as text', async () => {
    const { code, out } = await runSlipway('streams', 'inspect', payload.releaseImage, ...access);
    expect(code).toBe(0);
    expect(out).toMatch(/rhel-9 +yes +deprecated, then rhel-10 +9\.6\.20251201-1/);
    expect(out).toContain(payload.os.get('rhel-10')?.osImage);
    expect(out).toContain('[SLW_STREAM_PARTIAL]');
  });

  it('reports a registry problem in one line', async () => {
    const { code, out, err } = await inspect(payload.releaseImage, '--registry-ca', path('ca.crt'));
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/SLW_REGISTRY_UNAUTHORIZED.*\[SLW_STREAM_SOURCE_FAILED\]\n$/);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('slipway bootstrap with the streams of a release', () => {
  it('starts each pool on its stream, and writes the OSImageStream for the new cluster', async () => {
    const gpu = customPool('gpu');
    const manifest = {
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'MachineConfigPool',
      ...gpu,
      spec: { ...gpu.spec, osImageStream: { name: 'rhel-10' } },
    };
    await writeFile(path('gpu.json'), JSON.stringify(manifest));
    const { code, err } = await runSlipway(
      'bootstrap',
      `--filename=${path('gpu.json')}`,
      `--out=${path('boot')}`,
      '--server-url=https://127.0.0.1:22623',
      `--kubeconfig-for-nodes=${fleet.controlPlane.kubeconfig}`,
      `--image-references=${path('image-references')}`,
      ...access,
    );
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('SLW_STREAM_PARTIAL') });
    const object: unknown = parse(await readFile(path('boot/manifests/15-osimagestream-cluster.yaml'), 'utf8'));
    expect(object).toMatchObject({
      kind: 'OSImageStream',
      metadata: { name: 'cluster', annotations: { 'slipway.dev/default-stream': 'rhel-9' } },
      spec: { defaultStream: 'rhel-9' },
      status: { availableStreams: [{ name: 'rhel-10' }, { name: 'rhel-9' }] },
    });
    for (const [name, stream] of [
      ['gpu', 'rhel-10'],
      ['worker', 'rhel-9'],
    ] as const) {
      const made = JSON.parse(await readFile(path(`boot/pools/${name}.json`), 'utf8')) as KubeObject & {
        spec: { configuration: { name: string } };
      };
      expect(made.metadata.annotations).toMatchObject({ 'slipway.dev/os-image-stream': stream });
      const rendered: unknown = JSON.parse(
        await readFile(path(`boot/machine-configs/${made.spec.configuration.name}.json`), 'utf8'),
      );
      expect(rendered).toMatchObject({ spec: { osImageURL: payload.os.get(stream)?.osImage } });
    }
    const checked = validate(osImageStreamKind, object);
    if (!checked.ok) throw new Error(`not an OSImageStream: ${JSON.stringify(checked.problems)}`);
    // kube-apiserver drops the status of a new object; the controllers set it.
    const taken = await fleet.admin.create(osImageStreams, checked.object, { dryRun: true });
    expect(taken).toMatchObject({ spec: { defaultStream: 'rhel-9' } });
    expect(taken).not.toHaveProperty('status');
  }, 60_000);
});

describe('slipway streams', () => {
  it('explains how to turn streams on if there are none', async () => {
    const { code, out } = await streams();
    expect(code).toBe(0);
    expect(out).toContain('--feature-gates OSStreams=true');
    expect(await migrate('worker', 'rhel-10', ...access)).toMatchObject({
      code: 1,
      out: '',
      thrown: 'SLW_CLI_NO_POOL',
    });
  });

  it('shows every stream and its pools, once the controllers have discovered them', async () => {
    await fleet.admin.create(machineConfigPools, customPool('infra'));
    const flags = ['--feature-gates', 'OSStreams=true', '--release-image', payload.releaseImage];
    await fleet.controller(...flags, '--registry-ca', path('ca.crt'));
    await until(async () => {
      const { defaultStream, streams: found } = await report();
      expect({ defaultStream, found }).toMatchObject({
        defaultStream: 'rhel-9',
        found: [
          { name: 'rhel-10', pools: [] },
          { name: 'rhel-9', pools: ['infra', 'master', 'worker'] },
        ],
      });
      expect(await readOsImage('infra')).toBe(payload.os.get('rhel-9')?.osImage);
      expect(await readOsImage('worker')).toBe(payload.os.get('rhel-9')?.osImage);
    }, 'rollout');
    const { out } = await streams();
    expect(out).toMatch(/^rhel-9 +yes +deprecated, then rhel-10 +infra, master, worker /m);
    expect(out).toContain('Ends in 2027. Migrate: slipway streams migrate infra rhel-10');
  }, 90_000);
});

describe('slipway streams migrate', () => {
  let foretold: string;

  beforeAll(async () => {
    await addNode('worker-1', 'worker');
    await addNode('infra-1', 'infra');
    await addNode('infra-2', 'infra');
    await untilReached('infra', 'rhel-9');
  }, 90_000);

  it('shows the effects with --dry-run, and writes nothing', async () => {
    const { code, out, err } = await migrate('infra', 'rhel-10', '--dry-run', '-o', 'json', ...access);
    expect({ code, err }).toEqual({ code: 3, err: '' });
    const found = JSON.parse(out) as {
      plan: { pools: { name: string; after: string; updates: object[]; rollout: { waves: object[] } }[] };
      download: { bytesPerMachine: number; osExtensionsImage: null };
    };
    const infra = found.plan.pools.find(({ name }) => name === 'infra');
    expect(found).toMatchObject({ pool: 'infra', from: 'rhel-9', to: 'rhel-10', dryRun: true, changed: false });
    expect(infra).toMatchObject({
      updates: [{ actions: [{ type: 'Reboot' }], needsDrain: true, nodes: ['infra-1', 'infra-2'] }],
    });
    expect(found.download.bytesPerMachine).toBeGreaterThan(300_000);
    foretold = infra?.after ?? '';

    const text = await migrate('infra', 'rhel-10', '--dry-run', ...access);
    expect(text.out).toContain('Pool infra: stream rhel-9 → rhel-10');
    expect(text.out).toMatch(/Download: at most 30\d\.\d kB for each of 2 machines/);
    expect(text.out).toContain('slipway status infra --watch');
    expect(text.out).toContain('Nothing was written (--dry-run).');

    const requests = await readSettledAuditLog(fleet.controlPlane.auditLog, viewer.user);
    expect(new Set(requests.map(({ verb }) => verb))).toEqual(new Set(['get', 'list']));
    expect((await findPool(fleet.admin, 'infra'))?.spec.osImageStream).toBeUndefined();
  });

  it('works without the registry, and reports that', async () => {
    const { code, out } = await migrate('infra', 'rhel-10', '--dry-run');
    expect(code).toBe(3);
    expect(out).toMatch(/Download: unknown for each of 2 machines: .*SLW_REGISTRY_/);
  }, 60_000);

  it.each([
    ['a missing stream', 'rhel-11', 'SLW_STREAM_UNKNOWN'],
    ['one that the release has half of', 'centos-10', 'SLW_STREAM_UNKNOWN'],
  ])('refuses %s before anything is done', async (_, stream, code) => {
    const { code: exit, out, err } = await migrate('infra', stream, ...access);
    expect({ exit, out }).toEqual({ exit: 1, out: '' });
    expect(err).toContain(`[${code}]`);
  });

  it('sets the stream; the plan comes true, and only that pool migrates', async () => {
    const { code, out } = await migrate('infra', 'rhel10-coreos', ...access);
    expect(code).toBe(0);
    expect(out).toContain('Pool infra now requests stream rhel-10.');
    expect((await findPool(fleet.admin, 'infra'))?.spec.osImageStream).toEqual({ name: 'rhel-10' });
    await until(async () => {
      expect((await findPool(fleet.admin, 'infra'))?.spec.configuration?.name).toBe(foretold);
    }, 'rollout');
    await untilReached('infra', 'rhel-10');
    expect(await readOsImage('infra')).toBe(payload.os.get('rhel-10')?.osImage);
    expect(await readOsImage('worker')).toBe(payload.os.get('rhel-9')?.osImage);
    expect((await report()).streams).toMatchObject([
      { name: 'rhel-10', pools: ['infra'] },
      { name: 'rhel-9', pools: ['master', 'worker'] },
    ]);
  }, 120_000);

  it('exits 0 for a pool that already requests the stream, and refuses a downgrade', async () => {
    expect(await migrate('infra', 'rhel-10', '--dry-run', ...access)).toMatchObject({ code: 0 });
    const again = await migrate('infra', 'rhel-10', ...access);
    expect(again.out).toContain('Pool infra already requests stream rhel-10. Nothing was written.');
    const { code, out, err } = await migrate('infra', 'rhel-9', ...access);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('[SLW_STREAM_BACKWARD]');
  });
});
