// What is refused before any host is touched: URLs that Ironic would refuse, and to run beside an operator that does the same
// work.
import { type BareMetalHost, bareMetalHosts, dataImages, namespaces } from '@slipway/api';
import {
  type Client,
  createClient,
  createTransport,
  type KubeObject,
  loadKubeconfig,
  type Resource,
} from '@slipway/kube';
import type { ControlPlane } from '@slipway/tools/controlplane';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startInstalledControlPlane } from './installed-control-plane.ts';
import { operator } from './operator.ts';
import { endOf, slipway } from './slipway-process.ts';

const namespace = 'metal';
const until = <T>(ask: () => Promise<T>): Promise<T> => vi.waitFor(ask, { timeout: 40_000, interval: 100 });
const of = <T extends KubeObject>(group: string, kind: string, plural: string, namespaced = true): Resource<T> => ({
  group,
  version: 'v1',
  kind,
  plural,
  namespaced,
});
const deployments = of<KubeObject & { spec: object }>('apps', 'Deployment', 'deployments');
const rbac = 'rbac.authorization.k8s.io';
const roles = of<KubeObject & { rules: object[] }>(rbac, 'ClusterRole', 'clusterroles', false);
const bindings = of<KubeObject & { roleRef: object; subjects: object[] }>(
  rbac,
  'ClusterRoleBinding',
  'clusterrolebindings',
  false,
);
const events = of<KubeObject & { reason: string; message: string }>('', 'Event', 'events');

let controlPlane: ControlPlane;
let client: Client;
let kubeconfig: string;

beforeAll(async () => {
  controlPlane = await startInstalledControlPlane();
  client = createClient(createTransport(await loadKubeconfig([controlPlane.kubeconfig])));
  kubeconfig = await controlPlane.kubeconfigFor(operator);
  await client.create(namespaces, { metadata: { name: namespace } });
  await until(async () => {
    if ((await refusalOf('ftp://iso.example/a.iso')) === 'it passed') throw new Error('the policy is not in force yet');
  });
});
afterAll(async () => {
  await client?.transport.close();
  await controlPlane?.stop();
});

const tryUrl = (url: string): Promise<unknown> =>
  client.create(dataImages, { metadata: { namespace, name: 'worker-0' }, spec: { url } }, { dryRun: true });

const refusalOf = (url: string): Promise<string> =>
  tryUrl(url).then(
    () => 'it passed',
    (error: unknown) => String(error),
  );

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
    ['ftp://iso.example/a.iso', 'expected an http or https address'],
    ['gopher://iso.example/a.iso', 'expected an http or https address'],
    ['oci://registry.example/a:1', 'expected an http or https address'],
    ['file:///etc/shadow', 'expected an http or https address'],
    ['/a.iso', 'expected an http or https address'],
    ['', 'expected an http or https address'],
    ['http:///a.iso', 'expected a whole URL'],
    ['http://', 'expected a whole URL'],
    ['http://iso.example/a b.iso', 'expected a whole URL'],
    ['http://iso.example/café.iso', 'expected a whole URL'],
    ['http://iso.example/%zz.iso', 'expected a whole URL'],
    ['https://root:hunter2@iso.example/a.iso', 'expected no user name or password'],
    [`http://iso.example/${'a'.repeat(2048)}`, 'expected at most 2048 characters, found 2067'],
  ])('may not be at %s', async (url, words) => {
    const refusal = await refusalOf(url);
    expect(refusal).toContain(words);
    expect(refusal).not.toContain('hunter2');
  });
});

const controller = (...flags: string[]) =>
  slipway('controller', '--kubeconfig', kubeconfig, '--no-leader-elect', '--probes', '127.0.0.1:0', ...flags);
const ironic = ['--ironic-url', 'http://127.0.0.1:1'];

describe('the controllers', () => {
  it('say which flag is missing', async () => {
    const { code, err } = await endOf(controller('--data-images-beside-operator'));
    expect(code).not.toBe(0);
    expect(err).toMatch(/--data-images-beside-operator.*expected --ironic-url.*\[SLW_CLI_USAGE\]/);
  });

  it('look after hosts with --ironic-url, and say so where Ironic does not answer', async () => {
    const host: BareMetalHost = {
      metadata: { namespace, name: 'worker-0' },
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
        const told = [];
        for await (const { reason, message } of client.list(events, { namespace })) told.push(`${reason}: ${message}`);
        expect(told.join('\n')).toMatch(/IronicFailed: nothing is done with the host: .*SLW_IRONIC_UNREACHABLE/);
      });
    } finally {
      running.child.kill('SIGTERM');
      await running.exit;
    }
  });

  it('refuse to run beside an operator of hosts, and beside one that handles DataImages even when told to', async () => {
    const account = 'baremetal-operator';
    const labels = { app: 'baremetal-operator' };
    await client.create(deployments, {
      metadata: { namespace, name: 'metal3-baremetal-operator' },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { serviceAccountName: account, containers: [{ name: 'manager', image: 'example' }] },
        },
      },
    });
    const alone = await endOf(controller(...ironic));
    expect(alone.err).toMatch(
      /Deployment metal\/metal3-baremetal-operator.*--data-images-beside-operator.*\[SLW_DATA_IMAGE_OPERATOR\]/,
    );

    const name = 'baremetal-operator';
    await client.create(roles, {
      metadata: { name },
      rules: [{ apiGroups: ['metal3.io'], resources: ['dataimages/status'], verbs: ['update'] }],
    });
    await client.create(bindings, {
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', namespace, name: account }],
    });
    const beside = await endOf(controller(...ironic, '--data-images-beside-operator'));
    expect(beside.err).toMatch(/handles DataImages itself.*\[SLW_DATA_IMAGE_OPERATOR\]/);

    await client.delete(bindings, { name }, {});
    const allowed = controller(...ironic, '--data-images-beside-operator', '--log-level', 'info');
    await allowed.saw(/connected/);
    allowed.child.kill('SIGTERM');
    await allowed.exit;
  });
});
