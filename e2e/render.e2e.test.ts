import { randomBytes } from 'node:crypto';
import {
  inUseLabel,
  type MachineConfig,
  machineConfigPools,
  machineConfigs,
  machineConfigurations,
  nodeAnnotations,
  nodes,
  poolLabel,
  ROLE_LABEL,
  secrets,
} from '@slipway/api';
import { disruptionPolicyController, renderedConfigsController } from '@slipway/controllers';
import {
  createClient,
  createInformer,
  createRecorder,
  createTransport,
  createWriter,
  loadKubeconfig,
  silentLog,
} from '@slipway/kube';
import type { ControllerDef, KubeObject, Resource, Store } from '@slipway/kube';
import { configWithFile, customPool, machineConfig, machineConfigPool } from '@slipway/testing/builders';
import { watchWrites } from '@slipway/testing/run-controllers';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCondition, readFiles, findPool, type Fleet, NAMESPACE, renderedWith, startFleet } from './render/fleet.ts';

let fleet: Fleet;

beforeAll(async () => {
  fleet = await startFleet();
  await fleet.controller('--keep-rendered', '2');
}, 120_000);
afterAll(() => fleet.stop());

const untilDegraded = (pool: string, message: RegExp): Promise<string> =>
  until(async () => {
    const condition = findCondition(await findPool(fleet.admin, pool), 'RenderDegraded');
    expect(condition).toMatchObject({ status: 'True', message: expect.stringMatching(message) });
    return condition?.message ?? '';
  });

const untilWell = (pool: string): Promise<void> =>
  until(async () => {
    expect(findCondition(await findPool(fleet.admin, pool), 'RenderDegraded')).toMatchObject({ status: 'False' });
  });

describe('a fleet with nothing of its users', () => {
  it('has the pools master and worker, each with a rendered config made from the built-in one', async () => {
    for (const role of ['master', 'worker']) {
      const rendered = await renderedWith(fleet.admin, role, `00-${role}`);
      expect(rendered.metadata.name).toMatch(new RegExp(`^rendered-${role}-[0-9a-f]{32}$`));
      expect(rendered.spec?.config).toMatchObject({ ignition: { version: '3.5.0' } });
      expect(JSON.stringify(rendered.spec)).toContain('machine-config-daemon-firstboot.service');
      await untilWell(role);
    }
  });

  it('has the built-in one of arbiters while it has a pool of them', async () => {
    const { admin } = fleet;
    await admin.create(machineConfigPools, machineConfigPool('arbiter'));
    const rendered = await renderedWith(admin, 'arbiter', '00-arbiter');
    expect(JSON.stringify(rendered.spec)).toContain('machine-config-daemon-firstboot.service');
    await admin.delete(machineConfigPools, { name: 'arbiter' }, {});
    await until(async () => expect(await admin.find(machineConfigs, { name: '00-arbiter' })).toBeUndefined());
  });
});

describe("a user's MachineConfig", () => {
  it('is merged over the built-in one, and an edit reaches the pool in under a second', async () => {
    const { admin } = fleet;
    await admin.create(
      machineConfigs,
      machineConfig('50-motd', 'worker', { config: configWithFile('/etc/motd', 'one') }),
    );
    await renderedWith(admin, 'worker', '50-motd');
    const times: number[] = [];
    for (const text of ['two', 'three', 'four', 'five', 'six']) {
      const before = (await findPool(admin, 'worker'))?.spec.configuration?.name;
      const body = { spec: { config: configWithFile('/etc/motd', text) } };
      const begun = performance.now();
      await admin.patch(machineConfigs, { name: '50-motd' }, { type: 'merge', body }, {});
      await until(async () => expect((await findPool(admin, 'worker'))?.spec.configuration?.name).not.toBe(before));
      times.push(performance.now() - begun);
      await renderedWith(admin, 'worker', '50-motd', (rendered) => {
        expect(readFiles(rendered)['/etc/motd']).toBe(`data:,${text}`);
      });
    }
    const median = times.sort((a, b) => a - b)[2] ?? Infinity;
    console.log(`an edit reached pool.spec.configuration in ${median.toFixed(0)} ms (median of 5)`);
    expect(median).toBeLessThan(1000);
  });

  it("of the role worker is in a custom pool that says so, and the pool's own wins over it", async () => {
    const { admin } = fleet;
    await admin.create(
      machineConfigs,
      machineConfig('40-infra', 'infra', { config: configWithFile('/etc/motd', 'infra') }),
    );
    await admin.create(machineConfigPools, customPool('infra'));
    const rendered = await renderedWith(admin, 'infra', '40-infra', (found) =>
      expect(readFiles(found)['/etc/motd']).toBe('data:,infra'),
    );
    const sources = (await findPool(admin, 'infra'))?.spec.configuration?.source?.map(({ name }) => name);
    expect(sources).toEqual(['00-worker', '50-motd', '40-infra']);
    expect(JSON.stringify(rendered.spec)).toContain('machine-config-daemon-firstboot.service');
  });

  it('carries kernel arguments, fips, kernel type, extensions and an OS image', async () => {
    const { admin } = fleet;
    const spec = {
      kernelArguments: ['nosmt', 'audit=0'],
      fips: true,
      kernelType: 'realtime',
      extensions: ['usbguard'],
      osImageURL: 'registry.example.com/os@sha256:1',
    };
    await admin.create(machineConfigs, machineConfig('60-settings', 'infra', spec));
    const rendered = await renderedWith(admin, 'infra', '60-settings');
    expect(rendered.spec).toMatchObject(spec);
    await admin.delete(machineConfigs, { name: '60-settings' }, {});
  });
});

describe('a bad MachineConfig', () => {
  const motd = (text: string, more: object = {}) => ({ config: configWithFile('/etc/motd', text, more) });
  it.each([
    ['cannot be parsed', { config: { ignition: { version: '9.9.9' } } }, /99-bad.*spec\.config.*9\.9\.9/],
    ['has a mode that is refused', motd('x', { mode: 0o4755 }), /99-bad.*storage\.files\[0\]\.mode.*4755/],
    ['breaks a rule of its spec', motd('x', { path: 'etc/motd' }), /99-bad.*files\[0\]\.path/],
    [
      'contradicts another',
      { config: { ignition: { version: '3.4.0' }, storage: { links: [{ path: '/etc', target: '/usr/etc' }] } } },
      /99-bad.*\/etc/s,
    ],
    ['asks for a kernel that nobody has', { kernelType: 'fast' }, /99-bad.*spec\.kernelType.*fast/],
  ])('that %s degrades the pool, which keeps its last good config, and nobody else', async (_, spec, message) => {
    const { admin } = fleet;
    await untilWell('worker');
    const good = (await findPool(admin, 'worker'))?.spec.configuration?.name;
    // Some of them are refused at admission, but may be older than the policy.
    await fleet.breakGlass.create(machineConfigs, machineConfig('99-bad', 'worker', spec));
    const text = await untilDegraded('worker', message);
    expect(text).toMatch(/\[SLW_RENDER_[A-Z_]+\]/);
    expect((await findPool(admin, 'worker'))?.spec.configuration?.name).toBe(good);
    expect(findCondition(await findPool(admin, 'master'), 'RenderDegraded')).toMatchObject({ status: 'False' });

    const other = machineConfig('70-master', 'master', { kernelArguments: [`for=${text.length}`] });
    await admin.create(machineConfigs, other);
    await renderedWith(admin, 'master', '70-master');
    await admin.delete(machineConfigs, other.metadata, {});

    await admin.delete(machineConfigs, { name: '99-bad' }, {});
    await untilWell('worker');
    expect((await findPool(admin, 'worker'))?.spec.configuration?.name).toBe(good);
  });
});

describe('a result over the limit of one object', () => {
  const random = (bytes: number) => randomBytes(bytes).toString('base64');
  const big = (name: string, source: string) =>
    machineConfig(name, 'worker', { config: configWithFile(`/etc/${name}`, '', { contents: { source } }) });

  it('is compressed when that is enough', async () => {
    const { admin } = fleet;
    const text = `data:,${'a%20long%20story%20'.repeat(45_000)}`;
    for (const name of ['80-long-a', '80-long-b']) await admin.create(machineConfigs, big(name, text));
    const rendered = await renderedWith(admin, 'worker', '80-long-b');
    expect(JSON.stringify(rendered.spec).length).toBeLessThan(1_500_000);
    expect(readFiles(rendered)['/etc/80-long-a']).toMatch(/^data:;base64,H4sI/);
    for (const name of ['80-long-a', '80-long-b']) await admin.delete(machineConfigs, { name }, {});
  });

  it('is told before anything is written, with the largest contributors', async () => {
    const { admin } = fleet;
    await untilWell('worker');
    const sources = new Map(['80-big-a', '80-big-b'].map((name) => [name, `data:;base64,${random(750_000)}`]));
    for (const [name, source] of sources) await admin.create(machineConfigs, big(name, source));
    const message = await untilDegraded('worker', /SLW_RENDER_TOO_LARGE/);
    expect(message).toMatch(/\/etc\/80-big-a/);
    expect(message).toMatch(/MachineConfig 80-big-b/);
    for (const name of sources.keys()) await admin.delete(machineConfigs, { name }, {});
    await untilWell('worker');
  });
});

describe('what is the operator’s own', () => {
  const currentName = async (): Promise<string> =>
    (await findPool(fleet.admin, 'worker'))?.spec.configuration?.name ?? '';

  it('cannot be made, changed or deleted by users, not even by an administrator', async () => {
    const { admin } = fleet;
    const name = await currentName();
    const refused = (message: RegExp) => ({ code: 'SLW_KUBE_FORBIDDEN', message: expect.stringMatching(message) });
    const change = { type: 'merge', body: { spec: { fips: true } } } as const;
    const unlabel = { type: 'merge', body: { metadata: { labels: { [inUseLabel]: null } } } } as const;
    await expect(admin.create(machineConfigs, machineConfig('rendered-x', 'worker', {}))).rejects.toMatchObject(
      refused(/only the render controller/),
    );
    for (const write of [
      () => admin.patch(machineConfigs, { name }, change, {}),
      () => admin.patch(machineConfigs, { name }, unlabel, {}),
    ]) {
      await expect(write()).rejects.toMatchObject(refused(/only the render controller/));
    }
    await expect(admin.delete(machineConfigs, { name }, {})).rejects.toMatchObject(refused(/still uses MachineConfig/));
    await expect(admin.patch(machineConfigs, { name: '00-worker' }, change, {})).rejects.toMatchObject(
      refused(/built.in/),
    );
    await expect(admin.delete(machineConfigs, { name: '00-worker' }, {})).rejects.toMatchObject(refused(/built.in/));
    const annotate = { type: 'merge', body: { metadata: { annotations: { 'example.com/note': 'x' } } } } as const;
    await expect(admin.patch(machineConfigs, { name: '00-worker' }, annotate, {})).resolves.toBeDefined();
  });

  it('is recreated, the same, when a user with break-glass deleted it', async () => {
    const { admin, breakGlass } = fleet;
    const name = await currentName();
    const before = await admin.get(machineConfigs, { name });
    await breakGlass.delete(machineConfigs, { name }, {});
    await breakGlass.delete(machineConfigs, { name: '00-worker' }, {});
    await until(async () => {
      const found = await admin.find(machineConfigs, { name });
      expect(found?.metadata.uid).not.toBe(before.metadata.uid);
      expect(found?.spec).toEqual(before.spec);
      expect(await admin.find(machineConfigs, { name: '00-worker' })).toBeDefined();
    });
    await untilWell('worker');
    expect(await currentName()).toBe(name);
  });

  it('is put back when a user with break-glass changed it', async () => {
    const { admin, breakGlass } = fleet;
    const name = await currentName();
    const before = await admin.get(machineConfigs, { name });
    await breakGlass.patch(machineConfigs, { name }, { type: 'merge', body: { spec: { fips: true } } }, {});
    await until(async () => {
      expect((await admin.get(machineConfigs, { name })).spec).toEqual(before.spec);
    });
  });

  it('is put back when a user with break-glass added to the built-in one, and no machine gets the addition', async () => {
    const { admin, breakGlass } = fleet;
    const name = await currentName();
    const before = await admin.get(machineConfigs, { name: '00-worker' });
    const added = {
      metadata: { labels: { [ROLE_LABEL]: null }, annotations: { 'example.com/kept': 'x' } },
      spec: { kernelArguments: ['added'], config: { passwd: { users: [{ name: 'core' }] } } },
    };
    await breakGlass.patch(machineConfigs, { name: '00-worker' }, { type: 'merge', body: added }, {});
    await until(async () => {
      const { metadata, spec } = await admin.get(machineConfigs, { name: '00-worker' });
      expect(spec).toEqual(before.spec);
      expect(metadata.labels).toEqual(before.metadata.labels);
      expect(metadata.annotations).toEqual({ ...before.metadata.annotations, 'example.com/kept': 'x' });
    });
    // A later change of a user shows that everything before it has been handled.
    await admin.create(machineConfigs, machineConfig('70-later', 'worker', { kernelArguments: ['later'] }));
    await renderedWith(admin, 'worker', '70-later');
    const rendered = await Array.fromAsync(admin.list(machineConfigs, { labelSelector: `${poolLabel}=worker` }));
    expect(JSON.stringify(rendered)).not.toContain('added');
    await admin.delete(machineConfigs, { name: '70-later' }, {});
    await until(async () => expect(await currentName()).toBe(name));
  });

  it('loses what an earlier version had in the built-in one and this version has not, and stays with one field manager', async () => {
    const { admin, breakGlass } = fleet;
    const name = { name: '00-master' };
    const managed: Resource<MachineConfig & { metadata: { managedFields?: { manager: string }[] } }> = machineConfigs;
    const { metadata: earlier } = await admin.get(machineConfigs, name);
    await breakGlass.delete(machineConfigs, name, {});
    const created = await until(async () => {
      const found = await admin.get(managed, name);
      expect(found.metadata.uid).not.toBe(earlier.uid);
      return found;
    });
    const [{ manager } = { manager: '' }] = created.metadata.managedFields ?? [];
    expect(manager).toBe('slipway-built-in');
    const { config } = created.spec ?? {};
    const body = { spec: { kernelArguments: ['earlier'], config: { ...config, storage: { links: [] } } } };
    await breakGlass.patch(machineConfigs, name, { type: 'merge', body }, {}, { fieldManager: manager });
    const found = await until(async () => {
      const now = await admin.get(managed, name);
      expect(now.spec).toEqual(created.spec);
      return now;
    });
    expect(found.metadata.managedFields).toEqual([expect.objectContaining({ manager, operation: 'Update' })]);
  });
});

describe('the MachineConfiguration', () => {
  it('shows the node disruption policy in effect, and a restart of the controller writes nothing', async () => {
    const { admin } = fleet;
    const name = { name: 'cluster' };
    const units = [
      { name: 'a.service', actions: [{ type: 'Restart' as const, restart: { serviceName: 'b.service' } }] },
    ];
    const ownFile = { path: '/etc/containers/policy.json', actions: [{ type: 'None' as const }] };
    const untilShown = (expected: object, generation = 0) =>
      until(async () => {
        const { metadata, status } = await admin.get(machineConfigurations, name);
        expect(metadata.generation).toBeGreaterThan(generation);
        expect(status?.observedGeneration).toBe(metadata.generation);
        expect(status?.nodeDisruptionPolicyStatus?.clusterPolicies).toMatchObject(expected);
        return metadata.generation;
      });
    const builtIn = {
      path: '/etc/containers/policy.json',
      actions: [{ type: 'Reload', reload: { serviceName: 'crio.service' } }],
    };
    await admin.create(machineConfigurations, {
      metadata: name,
      spec: { nodeDisruptionPolicy: { units, files: [ownFile], sshkey: { actions: [{ type: 'Drain' }] } } },
    });
    const first = await untilShown({
      files: expect.arrayContaining([
        ownFile,
        { path: '/etc/containers/registries.conf', actions: [{ type: 'Special' }] },
      ]),
      units,
      sshkey: { actions: [{ type: 'Drain' }] },
    });
    const body = { spec: { nodeDisruptionPolicy: null } };
    await admin.patch(machineConfigurations, name, { type: 'merge', body }, {});
    const none = { sshkey: { actions: [{ type: 'None' }] }, units: [] };
    await untilShown({ files: expect.arrayContaining([builtIn]), ...none }, first);
    expect(await reconcileLater(disruptionPolicyController, 'cluster', 0)).toEqual([]);
  });
});

describe('old rendered configs', () => {
  it('that a node runs are marked as in use', async () => {
    const { admin } = fleet;
    const name = (await findPool(admin, 'infra'))?.spec.configuration?.name ?? '';
    await admin.create(nodes, { metadata: { name: 'n1', annotations: { [nodeAnnotations.currentConfig]: name } } });
    await admin.create(machineConfigs, machineConfig('41-infra', 'infra', { kernelArguments: ['later'] }));
    await renderedWith(admin, 'infra', '41-infra');
    // It is marked from its birth; that it stays so while the pool has moved on is the node's doing.
    await until(async () => {
      const labels = (await admin.get(machineConfigs, { name })).metadata.labels;
      expect(labels).toHaveProperty([inUseLabel]);
    });
    await expect(admin.delete(machineConfigs, { name }, {})).rejects.toMatchObject({ code: 'SLW_KUBE_FORBIDDEN' });
  });

  it('that a node runs come back when a user with break-glass deleted them, although they can no longer be rendered', async () => {
    const { admin, breakGlass } = fleet;
    const name = (await admin.get(nodes, { name: 'n1' })).metadata.annotations?.[nodeAnnotations.currentConfig] ?? '';
    expect(name).not.toBe((await findPool(admin, 'infra'))?.spec.configuration?.name);
    const before = await admin.get(machineConfigs, { name });
    await until(() => admin.get(secrets, { namespace: NAMESPACE, name: `copy-of-${name}-0` }));
    await breakGlass.delete(machineConfigs, { name }, {});
    await until(async () => {
      const found = await admin.get(machineConfigs, { name });
      expect(found.metadata.uid).not.toBe(before.metadata.uid);
      expect(found.spec).toEqual(before.spec);
      expect(found.metadata.labels).toHaveProperty([inUseLabel]);
    });
  });

  it('that a node runs are put back when a user with break-glass changed them', async () => {
    const { admin, breakGlass } = fleet;
    const name = (await admin.get(nodes, { name: 'n1' })).metadata.annotations?.[nodeAnnotations.currentConfig] ?? '';
    const before = await admin.get(machineConfigs, { name });
    const change = { spec: { kernelArguments: ['changed'] } };
    await breakGlass.patch(machineConfigs, { name }, { type: 'merge', body: change }, {});
    await until(async () => {
      expect((await admin.get(machineConfigs, { name })).spec).toEqual(before.spec);
    });
  });

  it('that nothing refers to are collected, but for the newest', async () => {
    const { admin } = fleet;
    for (const turn of ['1', '2', '3', '4', '5']) {
      const body = { spec: { kernelArguments: [`turn=${turn}`] } };
      await admin.patch(machineConfigs, { name: '41-infra' }, { type: 'merge', body }, {});
      await renderedWith(admin, 'infra', '41-infra', ({ spec }) =>
        expect(spec?.kernelArguments).toEqual([`turn=${turn}`]),
      );
    }
    const current = (await findPool(admin, 'infra'))?.spec.configuration?.name;
    const ofNode = (await admin.get(nodes, { name: 'n1' })).metadata.annotations?.[nodeAnnotations.currentConfig];
    const before = await listRendered('infra');
    expect(before.length).toBeGreaterThanOrEqual(7);

    await reconcileLater(renderedConfigsController({ keep: 2 }), 'infra', 120_000);
    const after = await listRendered('infra');
    expect(after).toContain(current);
    expect(after).toContain(ofNode);
    // The two newest, that of the pool and that of the node. Times have whole seconds: which two are newest may be a draw.
    expect(after.length).toBeGreaterThanOrEqual(2);
    expect(after.length).toBeLessThanOrEqual(4);
  });
});

async function listRendered(pool: string): Promise<(string | undefined)[]> {
  const names: string[] = [];
  for await (const { metadata } of fleet.admin.list(machineConfigs, { labelSelector: `${poolLabel}=${pool}` })) {
    names.push(metadata.name);
  }
  return names;
}

/** The writes of one run of a controller at a time to come, on the real cluster: what is young now is not young then. */
async function reconcileLater(def: ControllerDef, key: string, inMs: number): Promise<string[]> {
  const transport = createTransport(await loadKubeconfig([fleet.operatorKubeconfig]));
  const stop = new AbortController();
  const stores = new Map<Resource, Store<KubeObject>>();
  for (const source of def.reads) {
    const informer = createInformer(transport, source);
    informer.start(stop.signal);
    await informer.synced;
    stores.set(source.resource, informer.store);
  }
  const writes: string[] = [];
  const client = watchWrites(createClient(transport), (write) => writes.push(write));
  await def.reconcile(key, {
    client,
    write: createWriter(client, { fieldManager: `slipway-${def.name}` }),
    read: <T extends KubeObject>(resource: Resource<T>) => stores.get(resource) as Store<T>,
    events: createRecorder(client, { component: 'test', log: silentLog() }),
    log: silentLog(),
    signal: stop.signal,
    unsure: false,
    now: () => new Date(Date.now() + inMs),
  });
  stop.abort();
  await transport.close();
  return writes;
}
