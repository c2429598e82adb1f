import {
  buildCrd,
  controllerUser,
  dataImages,
  DEFAULT_NAMESPACE,
  DRIVE_MEMORY_ANNOTATION,
  infrastructures,
  kinds,
  machineConfigPools,
  machineConfigs,
  machineConfigurations,
  osImageStreams,
  pinnedImageSets,
  policies,
  buildPolicyObjects,
  type MachineConfiguration,
} from '@slipway/api';
import { checkObject } from '@slipway/fleet/check';
import { isKubeError, type Client, type KubeObject, type Resource } from '@slipway/kube';
import { startTestCluster, type TestCluster } from '@slipway/testing/control-plane';
import { installCrd } from '@slipway/testing/resources';
import { until } from '@slipway/testing/wait';
import { resolveBinaries } from '@slipway/tools/controlplane';
import { run } from '@slipway/tools/run';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptedObjects, refusedObjects } from './api/verdict-cases.ts';
import { type ApiResponse, connectToCluster } from './crd-suites/cluster.ts';

const clusterResource = (group: string, kind: string, plural: string): Resource => ({
  group,
  version: 'v1',
  kind,
  plural,
  namespaced: false,
});

const ADMISSION = 'admissionregistration.k8s.io';
const policyKinds = clusterResource(ADMISSION, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies');
const bindingKinds = clusterResource(
  ADMISSION,
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
);

const image = `registry.example.com/app@sha256:${'0'.repeat(64)}`;

// A control plane of its own: singletons and policies are there for everybody.
let cluster: TestCluster;
let admin: Client;

/** Somebody who may do everything as far as permissions go, so that only policies can say no. */
const createClientAs = (user: string, ...groups: string[]): Promise<Client> =>
  cluster.clientFor({ user, groups: [...groups, 'system:masters'] });

beforeAll(async () => {
  cluster = await startTestCluster({ isEmpty: true });
  ({ admin } = cluster);
  await Promise.all(kinds.map((kind) => installCrd(admin, buildCrd(kind))));
}, 120_000);

afterAll(() => cluster?.stop());

async function refused(request: Promise<unknown>): Promise<void> {
  const passed = await request.then(
    () => true,
    (error: unknown) => !isKubeError(error, 'SLW_KUBE_FORBIDDEN'),
  );
  if (passed) throw new Error('the request was not refused');
}

describe('an object is the same object in every version', () => {
  const specs = {
    PinnedImageSet: { pinnedImages: [{ name: image }] },
    OSImageStream: { defaultStream: 'rhel-9' },
  };
  const status = {
    defaultStream: 'rhel-9',
    availableStreams: [{ name: 'rhel-9', osImage: image, osExtensionsImage: image }],
  };

  it.each([
    { resource: pinnedImageSets, name: 'base', written: 'v1', read: 'v1alpha1' },
    { resource: pinnedImageSets, name: 'base', written: 'v1alpha1', read: 'v1' },
    { resource: osImageStreams, name: 'cluster', written: 'v1', read: 'v1alpha1' },
    { resource: osImageStreams, name: 'cluster', written: 'v1alpha1', read: 'v1' },
  ])('$resource.kind written as $written and read as $read', async ({ resource, name, written, read }) => {
    const writing: Resource = { ...resource, version: written };
    const reading: Resource = { ...resource, version: read };
    const spec = specs[resource.kind as keyof typeof specs];
    const object: KubeObject & { spec: object } = { metadata: { name }, spec };
    const { metadata } = await admin.create(writing, object);
    try {
      if (resource.kind === 'OSImageStream') {
        const patch = { type: 'merge', body: { status } } as const;
        await admin.patch(writing, { name }, patch, { uid: metadata.uid }, { subresource: 'status' });
      }
      const found = await admin.get(reading, { name });
      expect(found).toMatchObject({
        apiVersion: `machineconfiguration.openshift.io/${read}`,
        kind: resource.kind,
        metadata: { uid: metadata.uid },
        spec,
        ...(resource.kind === 'OSImageStream' && { status }),
      });
    } finally {
      await admin.delete(writing, { name }, { uid: metadata.uid });
    }
  });

  it('an OSImageStream without a default, as v1alpha1 allows, can be read as v1', async () => {
    const alpha: Resource = { ...osImageStreams, version: 'v1alpha1' };
    const object: KubeObject & { spec: object } = { metadata: { name: 'cluster' }, spec: {} };
    const { metadata } = await admin.create(alpha, object);
    expect(await admin.get(osImageStreams, { name: 'cluster' })).toMatchObject({ spec: {} });
    await admin.delete(alpha, { name: 'cluster' }, { uid: metadata.uid });
  });
});

describe('kubectl', () => {
  const kubectl = async (...args: string[]): Promise<string> => {
    const { kubectl: program } = await resolveBinaries(['kubectl']);
    return run(program, ['--kubeconfig', cluster.controlPlane.kubeconfig, ...args]);
  };

  it('explains a pool in our words', async () => {
    const text = (await kubectl('explain', 'machineconfigpool.spec')).replaceAll(/\s+/g, ' ');
    expect(text).toContain('Desired state of the pool.');
    expect(text).toContain('Maximum number of machines that may be unavailable at the same time during an update');
    expect(text).toContain(
      'If omitted, the pool stays on its current stream, even when the default of the cluster changes.',
    );
  });

  it('knows the short names and shows the columns', async () => {
    const pool = { metadata: { name: 'worker' }, spec: {} };
    const { metadata } = await admin.create(machineConfigPools, pool);
    const table = await kubectl('get', 'mcp', 'worker');
    expect(table).toMatch(/^NAME +CONFIG +UPDATED +UPDATING +DEGRADED +MACHINECOUNT +READYMACHINECOUNT /);
    for (const name of ['mcn', 'pis', 'osis', 'bih', 'dimg']) {
      expect(await kubectl('get', name, '--all-namespaces', '--ignore-not-found')).toBe('');
    }
    await admin.delete(machineConfigPools, { name: 'worker' }, { uid: metadata.uid });
  });
});

describe('admission policies', () => {
  const machineConfiguration = (name: string): MachineConfiguration => ({ metadata: { name }, spec: {} });

  const forbidden = (message: string) =>
    expect.objectContaining({ code: 'SLW_KUBE_FORBIDDEN', message: expect.stringContaining(message) as unknown });

  beforeAll(async () => {
    for (const definition of policies()) {
      const [policy, binding] = buildPolicyObjects(definition);
      await admin.create(policyKinds, policy);
      await admin.create(bindingKinds, binding);
    }
    // A policy is in force some moments after it is there.
    await until(() => refused(admin.create(machineConfigurations, machineConfiguration('probe'), { dryRun: true })));
    const pool = { metadata: { name: 'probe' }, spec: {} };
    await until(() => refused(admin.create(machineConfigPools, pool, { dryRun: true })));
    // The last one that is created.
    const image = {
      metadata: { name: 'probe', namespace: 'default', annotations: { [DRIVE_MEMORY_ANNOTATION]: 'probe' } },
      spec: { url: 'https://isos.example.com/probe.iso' },
    };
    await until(() => refused(admin.create(dataImages, image, { dryRun: true })));
  });

  const role = 'machineconfiguration.openshift.io/role';
  const roleIs = (operator: string, ...values: string[]) => ({ matchExpressions: [{ key: role, operator, values }] });

  it.each([
    ['infra', 'the roles worker and its own', roleIs('In', 'worker', 'infra')],
    ['infra', 'several roles beside worker', roleIs('In', 'worker', 'infra', 'gpu')],
    ['infra', 'every role but master', roleIs('NotIn', 'master')],
    ['infra', 'what worker selects', { matchLabels: { [role]: 'worker' } }],
    ['master', 'its own role, as a standard pool', { matchLabels: { [role]: 'master' } }],
    ['arbiter', 'its own role by expression, as a standard pool', roleIs('In', 'arbiter')],
  ])('let a pool %s select %s', async (name, _, machineConfigSelector) => {
    const pool = { metadata: { name }, spec: { machineConfigSelector } };
    await expect(admin.create(machineConfigPools, pool, { dryRun: true })).resolves.toMatchObject({
      metadata: { name },
    });
  });

  it.each([
    ['nothing', {}],
    ['its own role alone', { machineConfigSelector: { matchLabels: { [role]: 'infra' } } }],
    ['its own role alone, by expression', { machineConfigSelector: roleIs('In', 'infra') }],
    ['every role but worker', { machineConfigSelector: roleIs('NotIn', 'worker') }],
    ['by another label', { machineConfigSelector: { matchLabels: { role: 'worker' } } }],
    ['whatever has a role', { machineConfigSelector: { matchExpressions: [{ key: role, operator: 'Exists' }] } }],
  ])('refuse a custom pool that selects %s, and say what to do', async (_, spec) => {
    await expect(
      admin.create(machineConfigPools, { metadata: { name: 'infra' }, spec }, { dryRun: true }),
    ).rejects.toStrictEqual(
      forbidden(
        `pool infra must select the MachineConfigs of the role worker as well as its own: in spec.machineConfigSelector.matchExpressions, set key ${role}, operator In, values worker and infra`,
      ),
    );
  });

  it('let the one MachineConfiguration be, and no other', async () => {
    await expect(
      admin.create(machineConfigurations, machineConfiguration('cluster'), { dryRun: true }),
    ).resolves.toBeDefined();
    await expect(
      admin.create(machineConfigurations, machineConfiguration('mine'), { dryRun: true }),
    ).rejects.toStrictEqual(forbidden("only one MachineConfiguration may exist, and its name must be 'cluster'"));
  });

  it.each([
    [
      'our controllers',
      'system:serviceaccount:openshift-machine-config-operator:machine-config-controller',
      'system:serviceaccounts:openshift-machine-config-operator',
    ],
    ['garbage collection', 'system:serviceaccount:kube-system:generic-garbage-collector', 'system:serviceaccounts'],
    ['garbage collection without its own account', 'system:kube-controller-manager', 'system:authenticated'],
    ['the end of a namespace', 'system:serviceaccount:kube-system:namespace-controller', 'system:serviceaccounts'],
    ['people in an emergency', 'somebody', 'slipway:break-glass'],
  ])('do not stop %s', async (_, user, group) => {
    const client = await createClientAs(user, group);
    await expect(
      client.create(machineConfigurations, machineConfiguration('mine'), { dryRun: true }),
    ).resolves.toBeDefined();
    await expect(
      client.create(machineConfigPools, { metadata: { name: 'infra' }, spec: {} }, { dryRun: true }),
    ).resolves.toBeDefined();
  });

  it('leave the status and the labels of an object alone that was there before them', async () => {
    const emergency = await createClientAs('somebody', 'slipway:break-glass');
    const { metadata } = await emergency.create(machineConfigurations, machineConfiguration('mine'));
    const somebody = await createClientAs('somebody');
    const name = { name: 'mine' };
    const precondition = { uid: metadata.uid };
    const labels = { type: 'merge', body: { metadata: { labels: { seen: 'yes' } } } } as const;
    await expect(somebody.patch(machineConfigurations, name, labels, precondition)).resolves.toBeDefined();
    const status = { type: 'merge', body: { status: { observedGeneration: 1 } } } as const;
    await expect(
      somebody.patch(machineConfigurations, name, status, precondition, { subresource: 'status' }),
    ).resolves.toMatchObject({ status: { observedGeneration: 1 } });
    const spec = { type: 'merge', body: { spec: { logLevel: 'Debug' } } } as const;
    await expect(somebody.patch(machineConfigurations, name, spec, precondition)).rejects.toStrictEqual(
      forbidden('only one MachineConfiguration may exist'),
    );
    await expect(somebody.delete(machineConfigurations, name, precondition)).resolves.toBeUndefined();
  });

  describe('and the API server, asked with strict field validation, answer what is said offline:', () => {
    let api: Awaited<ReturnType<typeof connectToCluster>>;
    beforeAll(async () => {
      api = await connectToCluster(cluster.controlPlane.kubeconfig);
    });
    afterAll(() => api?.close());

    function create(object: { apiVersion: string; kind: string }): Promise<ApiResponse> {
      const kind = kinds.find((each) => each.kind === object.kind && object.apiVersion.startsWith(`${each.group}/`));
      const namespace = kind?.namespaced === true ? 'namespaces/default/' : '';
      const path = `/apis/${object.apiVersion}/${namespace}${kind?.plural}?fieldValidation=Strict&dryRun=All`;
      return api.request('POST', path, object);
    }

    const errorsIn = async (object: unknown) =>
      ((await checkObject(object))?.findings ?? []).filter(({ severity }) => severity === 'error');

    it.each(acceptedObjects)('%s is accepted', async (_, object) => {
      expect(await create(object)).toMatchObject({ ok: true });
      expect(await errorsIn(object)).toStrictEqual([]);
    });

    it.each(refusedObjects)('%s is refused', async (_, object) => {
      const answer = await create(object);
      const errors = await errorsIn(object);
      expect(answer).toMatchObject({ ok: false });
      expect(errors).not.toStrictEqual([]);
      const message = answer.ok ? '' : answer.message;
      const unknown = [...message.matchAll(/unknown field "([^"]+)"/g)].map(([, path = '']) => path);
      const found = errors.filter((error) => error.message.includes('unknown field')).map(({ field }) => field);
      expect(found.toSorted()).toStrictEqual(unknown.toSorted());
      // In the words of the policy, unless the content is at fault: there the message for machines says more.
      const refusal = / denied request: (.*)$/s.exec(message)?.[1];
      const isSame = errors.some((error) => {
        const text = error.message.slice(error.message.indexOf(': ') + 2);
        return refusal === undefined || refusal.endsWith(text);
      });
      expect(isSame || errors.every(({ code }) => code.startsWith('SLW_RENDER_'))).toBe(true);
    });
  });

  it('refuse unknown extensions, kernels and modes only in a spec that changes, and never to the controllers', async () => {
    const emergency = await createClientAs('somebody', 'slipway:break-glass');
    const controllers = await createClientAs(controllerUser(DEFAULT_NAMESPACE));
    const user = admin;
    const name = { name: '99-bad' };
    const files = Array.from({ length: 500 }, (_, index) => ({
      path: `/etc/${index}`,
      mode: index === 499 ? 644 : 420,
    }));
    const spec = { extensions: ['zsh'], kernelType: 'rt', config: { storage: { files } } };
    const bad = { metadata: name, spec };
    await expect(user.create(machineConfigs, bad)).rejects.toStrictEqual(
      forbidden('spec.kernelType: expected default'),
    );
    const { extensions, config } = spec;
    await expect(user.create(machineConfigs, { metadata: name, spec: { extensions } })).rejects.toStrictEqual(
      forbidden('spec.extensions: expected only ipsec, kerberos, '),
    );
    await expect(user.create(machineConfigs, { metadata: name, spec: { config } })).rejects.toStrictEqual(
      forbidden('whole numbers from 0 to 511 (octal 0777); that of /etc/499 is not. JSON numbers are decimal'),
    );
    await expect(controllers.create(machineConfigs, bad, { dryRun: true })).resolves.toBeDefined();
    await emergency.create(machineConfigs, bad);
    const labels = { type: 'merge', body: { metadata: { labels: { seen: 'yes' } } } } as const;
    await expect(user.patch(machineConfigs, name, labels, {})).resolves.toBeDefined();
    const worse = { type: 'merge', body: { spec: { fips: true } } } as const;
    await expect(user.patch(machineConfigs, name, worse, {})).rejects.toStrictEqual(forbidden('spec.kernelType'));
    await user.delete(machineConfigs, name, {});
  });

  it('that need a parameter let everything pass while it is absent', async () => {
    const [policy, binding] = buildPolicyObjects({
      name: 'only-on-bare-metal',
      description: 'For this test.',
      resource: pinnedImageSets,
      operations: ['CREATE'],
      exempt: [],
      validations: [
        { expression: "params.spec.platformSpec.type == 'BareMetal'", message: 'images are only pinned on bare metal' },
      ],
      param: { resource: infrastructures, name: 'cluster' },
    });
    await admin.create(policyKinds, policy);
    await admin.create(bindingKinds, binding);
    const set = { metadata: { name: 'any' }, spec: { pinnedImages: [{ name: image }] } };
    const pin = () => admin.create(pinnedImageSets, set, { dryRun: true });
    const platform = (type: 'AWS' | 'BareMetal') => ({
      metadata: { name: 'cluster' },
      spec: { platformSpec: { type } },
    });

    const { metadata } = await admin.create(infrastructures, platform('AWS'));
    await until(() => refused(pin()));
    await expect(pin()).rejects.toStrictEqual(forbidden('images are only pinned on bare metal'));
    await admin.delete(infrastructures, { name: 'cluster' }, { uid: metadata.uid });
    await until(pin);
    await expect(pin()).resolves.toBeDefined();
  });
});
