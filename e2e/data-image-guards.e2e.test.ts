// What is refused before any host is touched: URLs that Ironic would refuse, hosts whose BMC cannot, hands on the memory of the
// controllers, and to run beside an operator that does the same work.
import {
  type BareMetalHost,
  bareMetalHosts,
  bmcDrivers,
  dataImages,
  DRIVE_MEMORY_ANNOTATION,
  namespaces,
} from '@slipway/api';
import { dataImagesController } from '@slipway/controllers';
import type { Ironic, KnownNode } from '@slipway/fleet/hosts';
import type { Client, KubeObject, Resource } from '@slipway/kube';
import { operator, startTestCluster, type TestCluster } from '@slipway/testing/control-plane';
import { clusterRoleBindings, clusterRoles, listEvents } from '@slipway/testing/resources';
import { runControllers } from '@slipway/testing/run-controllers';
import { startProgram, waitForExit } from '@slipway/testing/slipway-process';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

const NAMESPACE = 'metal';
const ELSEWHERE = 'other-metal';
const URL = 'http://iso.example/a.iso';
const deployments: Resource<KubeObject & { spec: object }> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

let cluster: TestCluster;
let client: Client;
let kubeconfig: string;

beforeAll(async () => {
  cluster = await startTestCluster();
  client = cluster.admin;
  kubeconfig = await cluster.controlPlane.kubeconfigFor(operator);
  for (const name of [NAMESPACE, ELSEWHERE]) await client.create(namespaces, { metadata: { name } });
  await until(async () => {
    if ((await readRefusal('ftp://iso.example/a.iso')) === 'it passed')
      throw new Error('the policy is not in force yet');
  });
});
afterAll(() => cluster?.stop());

const tryUrl = (url: string): Promise<unknown> =>
  client.create(dataImages, { metadata: { namespace: NAMESPACE, name: 'worker-0' }, spec: { url } }, { dryRun: true });

const readError = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'it passed',
    (error: unknown) => String(error),
  );
const readRefusal = (url: string): Promise<string> => readError(tryUrl(url));

describe('a DataImage', () => {
  it.each([
    'http://iso.example/a.iso',
    'https://iso.example:8443/some/folder/worker-0.iso?version=3',
    'http://10.0.0.1/a.iso',
    'http://[2001:db8::1]:8080/a.iso',
    'http://iso.example/caf%C3%A9.iso',
    'http://iso.example/a@b.iso',
  ])('may be at %s', async (url) => {
    await expect(tryUrl(url)).resolves.toBeDefined();
  });

  it.each([
    ['ftp://iso.example/a.iso', 'expected an http or https URL'],
    ['gopher://iso.example/a.iso', 'expected an http or https URL'],
    ['oci://registry.example/a:1', 'expected an http or https URL'],
    ['file:///etc/shadow', 'expected an http or https URL'],
    ['/a.iso', 'expected an http or https URL'],
    ['', 'expected an http or https URL'],
    ['http:///a.iso', 'expected a complete URL'],
    ['http://', 'expected a complete URL'],
    ['http://iso.example/a b.iso', 'expected a complete URL'],
    ['http://iso.example/café.iso', 'expected a complete URL'],
    ['http://iso.example/%zz.iso', 'expected a complete URL'],
    ['http://169.254.169.254/latest/meta-data/', 'expected no link-local address'],
    ['http://[fe80::1]:8080/a.iso', 'expected no link-local address'],
    ['http://0.0.0.0/a.iso', 'expected no link-local address'],
    ['https://root:hunter2@iso.example/a.iso', 'expected no user name or password'],
    [`http://iso.example/${'a'.repeat(2048)}`, 'expected at most 2048 characters, found 2067'],
  ])('may not be at %s', async (url, words) => {
    const refusal = await readRefusal(url);
    expect(refusal).toContain(words);
    expect(refusal).not.toContain('hunter2');
  });
});

describe('the memory of the controllers', () => {
  const name = 'remembered';
  const patch = (who: Client, annotations: Record<string, string | null>, spec: object = {}): Promise<string> =>
    readError(
      who.patch(
        dataImages,
        { namespace: NAMESPACE, name },
        { type: 'merge', body: { metadata: { annotations }, spec } },
        {},
      ),
    );
  const memory = { [DRIVE_MEMORY_ANNOTATION]: '{"doing":"none"}' };
  const onlyTheirs = `only the controllers write the annotation ${DRIVE_MEMORY_ANNOTATION} of DataImage ${NAMESPACE}/${name}`;

  it('is set, changed and removed by nobody else; what else a DataImage has is its owner’s', async () => {
    const ours = cluster.operator;
    const metadata = { namespace: NAMESPACE, name };
    const remembering = { metadata: { ...metadata, annotations: memory }, spec: { url: URL } };
    await until(async () => {
      const made = await readError(client.create(dataImages, remembering, { dryRun: true }));
      expect(made).toContain(`${onlyTheirs}, which records what is in the drive. Omit it from a new DataImage`);
    });
    // As Velero restores an object: labels, annotations and finalizers, without owners and status.
    const restored = {
      metadata: {
        ...metadata,
        labels: { 'velero.io/restore-name': 'monday' },
        finalizers: ['dataimage.metal3.io'],
        annotations: { [DRIVE_MEMORY_ANNOTATION]: '{"of":"0f4bd3f0-9c2a-4a6e-8f1b-5d2f6a1c7e90","doing":"none"}' },
      },
      spec: { url: URL },
    };
    expect(await readError(client.create(dataImages, restored, { dryRun: true }))).toBe('it passed');
    await client.create(dataImages, { metadata, spec: { url: URL } });
    expect(await patch(client, memory)).toContain(onlyTheirs);
    expect(await patch(client, restored.metadata.annotations)).toContain(onlyTheirs);
    expect(await patch(ours, memory)).toBe('it passed');
    expect(await patch(client, { [DRIVE_MEMORY_ANNOTATION]: '{}' })).toContain(`${onlyTheirs}, which`);
    expect(await patch(client, { [DRIVE_MEMORY_ANNOTATION]: null })).toContain('Do not change it');
    const others = { 'slipway.dev/data-image-boot-anyway-after': '3', note: 'mine' };
    expect(await patch(client, others, { url: `${URL}.new` })).toBe('it passed');
    expect(await patch(ours, { [DRIVE_MEMORY_ANNOTATION]: '{}' })).toBe('it passed');
  });
});

/** Ironic with one host that is off and has an empty drive. */
function standInIronic(): { ironic: Ironic; attached: string[] } {
  const attached: string[] = [];
  const node: KnownNode = {
    uuid: 'node-2',
    hostUid: null,
    provisionState: 'active',
    targetProvisionState: null,
    powerState: 'power off',
    targetPowerState: null,
    reservation: null,
    lastError: null,
    maintenance: false,
    sentDigest: null,
  };
  const nothing = async (): Promise<void> => {};
  const ironic: Ironic = {
    node: async (id) => (id.endsWith('worker-2') ? node : null),
    register: nothing,
    update: nothing,
    provision: nothing,
    power: nothing,
    setMaintenance: nothing,
    remove: nothing,
    drive: async () => ({ inserted: false, image: '' }),
    attach: async (_, url) => void attached.push(url),
    detach: nothing,
    close: nothing,
  };
  return { ironic, attached };
}

const controller = (...flags: string[]) => controllerOn([], ...flags);
const controllerOn = (node: string[], ...flags: string[]) =>
  startProgram(
    inject('command'),
    ['controller', '--kubeconfig', kubeconfig, '--no-leader-elect', '--probes', '127.0.0.1:0', ...flags],
    node,
  );
/** For Node: each timer of five minutes fires after one second. */
const quickTimers = `--import=data:text/javascript,${encodeURIComponent(
  'const set = setTimeout; globalThis.setTimeout = (f, ms, ...more) => set(f, ms === 300_000 ? 1000 : ms, ...more)',
)}`;
const ironic = ['--ironic-url', 'http://127.0.0.1:1'];

describe('the controllers', () => {
  it('say which flag is missing', async () => {
    const { code, err } = await waitForExit(controller('--data-images-beside-operator'));
    expect(code).not.toBe(0);
    expect(err).toMatch(/--data-images-beside-operator: expected together with --ironic-url.*\[SLW_CLI_USAGE\]/);
  });

  it('look after hosts with --ironic-url, and say so where Ironic does not answer', async () => {
    const host: BareMetalHost = {
      metadata: { namespace: NAMESPACE, name: 'worker-0' },
      spec: {
        online: true,
        externallyProvisioned: true,
        bmc: { address: 'redfish://bmc.example/redfish/v1/Systems/1', credentialsName: 'none' },
      },
    };
    await client.create(bareMetalHosts, host);
    const running = controller(...ironic);
    try {
      await until(async () => {
        const told = await listEvents(client, { namespace: NAMESPACE, name: host.metadata.name });
        expect(told.map(({ reason, message }) => `${reason}: ${message}`).join('\n')).toMatch(
          /IronicFailed: Slipway cannot manage this host now: .*SLW_IRONIC_UNREACHABLE/,
        );
      });
    } finally {
      await running.stop();
    }
  });

  it('send Ironic to no address that is not allowed, which a name hides from the policy', async () => {
    const name = 'worker-2';
    const metadata = { namespace: NAMESPACE, name };
    const address = 'redfish-virtualmedia://bmc.example/redfish/v1/Systems/2';
    const spec = { externallyProvisioned: true, online: false, bmc: { address, credentialsName: 'none' } };
    await client.create(bareMetalHosts, { metadata, spec });
    await client.create(dataImages, { metadata, spec: { url: 'http://localhost/a.iso' } });
    const { ironic, attached } = standInIronic();
    const readAttached = async () =>
      (await client.get(dataImages, metadata)).status?.conditions?.find(({ type }) => type === 'Attached');
    const run = (allowAddresses: string[]) =>
      runControllers(cluster.operator, [
        dataImagesController({ ironic: () => ironic, besideOperator: true, hosts: { allowAddresses } }),
      ]);
    const careful = run([]);
    try {
      await until(async () => {
        const condition = await readAttached();
        expect(condition).toMatchObject({ status: 'False', reason: 'AddressRefused' });
        expect(condition?.message).toMatch(/localhost of spec\.url resolves to .* \[SLW_DATA_IMAGE_ADDRESS\]/);
      });
      expect(attached).toEqual([]);
    } finally {
      await careful.stop();
    }
    const allowing = run(['127.0.0.0/8', '::1/128']);
    try {
      await until(async () => expect((await readAttached())?.reason).not.toBe('AddressRefused'));
    } finally {
      await allowing.stop();
    }
  });

  it('refuse to run beside an operator of hosts, and one that handles DataImages even when told to or already running', async () => {
    const account = 'baremetal-operator';
    const labels = { app: 'baremetal-operator' };
    await client.create(deployments, {
      metadata: { namespace: NAMESPACE, name: 'metal3-baremetal-operator' },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { serviceAccountName: account, containers: [{ name: 'manager', image: 'example' }] },
        },
      },
    });
    const alone = await waitForExit(controller(...ironic));
    expect(alone.err).toMatch(
      /Deployment metal\/metal3-baremetal-operator.*--data-images-beside-operator.*\[SLW_DATA_IMAGE_OPERATOR\]/,
    );

    const name = 'baremetal-operator';
    await client.create(clusterRoles, {
      metadata: { name },
      rules: [{ apiGroups: ['metal3.io'], resources: ['dataimages/status'], verbs: ['update'] }],
    });
    const bind = () =>
      client.create(clusterRoleBindings, {
        metadata: { name },
        roleRef: { apiGroup: clusterRoles.group, kind: 'ClusterRole', name },
        subjects: [{ kind: 'ServiceAccount', namespace: NAMESPACE, name: account }],
      });
    await bind();
    const beside = await waitForExit(controller(...ironic, '--data-images-beside-operator'));
    expect(beside.err).toMatch(/manages DataImages too.*\[SLW_DATA_IMAGE_OPERATOR\]/);

    await client.delete(clusterRoleBindings, { name }, {});
    const allowed = controllerOn([quickTimers], ...ironic, '--data-images-beside-operator', '--log-level', 'info');
    await allowed.saw(/connected/);
    await bind();
    const { code, err } = await waitForExit(allowed);
    expect(code).toBe(1);
    expect(err).toMatch(/^slipway: .*manages DataImages too.*\[SLW_DATA_IMAGE_OPERATOR\]$/m);
  });
});

// Last: after its start the API server may take half a minute to find the kind that this policy has as its parameter.
describe('the host of a DataImage', () => {
  const makeHost = (name: string, address: string | null, where = NAMESPACE) =>
    client.create(bareMetalHosts, {
      metadata: { namespace: where, name },
      spec: { online: true, ...(address !== null && { bmc: { address, credentialsName: 'bmc' } }) },
    });
  const tryHost = (name: string, where = NAMESPACE): Promise<string> =>
    readError(
      client.create(dataImages, { metadata: { namespace: where, name }, spec: { url: URL } }, { dryRun: true }),
    );
  const change = (name: string, body: object): Promise<string> =>
    readError(client.patch(dataImages, { namespace: NAMESPACE, name }, { type: 'merge', body }, {}));

  const able = [...bmcDrivers].filter(([, { nonBootableISOImage }]) => nonBootableISOImage).map(([name]) => name);
  const unable = [...bmcDrivers.keys()].filter((name) => !able.includes(name));
  const others: [host: string, address: string, driver: string | null][] = [
    ['with-http', 'redfish+http://bmc.example:8000/redfish/v1/Systems/1', null],
    ['in-capitals', 'Redfish-VirtualMedia+HTTPS://192.0.2.7/redfish/v1/Systems/1', null],
    ['without-slashes', 'redfish:192.0.2.7', null],
    ['an-address-alone', '192.0.2.7', 'ipmi'],
    ['an-address-and-a-port', 'bmc.example:623', 'ipmi'],
    ['the-name-of-a-driver-alone', 'redfish', 'ipmi'],
    ['over-another-transport', 'redfish+ftp://bmc.example', 'redfish+ftp'],
    ['like-one', 'redfish-v2://bmc.example', 'redfish-v2'],
    ['with-a-password', 'Carrier-Pigeon://root:hunter2@loft', 'carrier-pigeon'],
  ];

  beforeAll(async () => {
    for (const name of bmcDrivers.keys()) await makeHost(name, `${name}://192.0.2.7/redfish/v1/Systems/1`);
    for (const [name, address] of others) await makeHost(name, address);
    await makeHost('without-a-bmc', null);
    await makeHost('of-another-namespace', 'ipmi://192.0.2.7', ELSEWHERE);
    // What the API server has heard of last, it has heard of everything before.
    await makeHost('last', 'ipmi://192.0.2.7');
    await until(async () => {
      if ((await tryHost('last')) === 'it passed') throw new Error('the hosts are not known yet');
    });
  });

  it.each([
    ...able,
    ...others.flatMap(([name, , driver]) => (driver === null ? [name] : [])),
    'without-a-bmc',
    'of-another-namespace',
    'not-there-yet',
  ])('can be %s', async (name) => {
    expect(await tryHost(name)).toBe('it passed');
  });

  it.each([
    ...unable.map((name) => [name, name]),
    ...others.flatMap(([name, , driver]) => (driver === null ? [] : [[name, driver]])),
  ])('cannot be %s, with the driver %s', async (name, driver) => {
    const refusal = await tryHost(name);
    expect(refusal).toContain(
      `DataImage ${NAMESPACE}/${name}: the BareMetalHost with this name uses the BMC driver "${driver}" (spec.bmc.address), which cannot attach an ISO; expected one of ${able.join(', ')}, optionally with +http or +https. If its BMC supports Redfish, change the address to one of these drivers`,
    );
    expect(refusal).not.toContain('hunter2');
  });

  it('can be any in a namespace that has no hosts yet', async () => {
    expect(await tryHost('ipmi', 'default')).toBe('it passed');
  });

  it('that cannot stops no DataImage that was there before it from being changed and deleted', async () => {
    const name = 'late';
    const finalizers = ['dataimage.metal3.io'];
    await client.create(dataImages, { metadata: { namespace: NAMESPACE, name, finalizers }, spec: { url: URL } });
    await makeHost(name, 'ipmi://192.0.2.7');
    await until(async () => expect(await tryHost(name)).toContain('uses the BMC driver "ipmi"'));
    expect(await change(name, { spec: { url: 'http://iso.example/b.iso', immediate: true } })).toBe('it passed');
    await client.delete(dataImages, { namespace: NAMESPACE, name }, {});
    expect(await change(name, { metadata: { finalizers: null } })).toBe('it passed');
    expect(await client.find(dataImages, { namespace: NAMESPACE, name })).toBeUndefined();
  });
});
