// `slipway dataimage` and the permission examples on a real API server, without a controller or Ironic. The test writes the
// status of hosts and DataImages like the controller would.
import { join } from 'node:path';
import { type BareMetalHost, bareMetalHosts, type DataImage, dataImages, namespaces } from '@slipway/api';
import { type Client, type KubeObject, type Resource, type Stored, type WriteOptions } from '@slipway/kube';
import { runInProcess } from '@slipway/slipway/testing/in-process';
import { connect, startTestCluster, type TestCluster } from '@slipway/testing/control-plane';
import { waitForExit, startSlipway } from '@slipway/testing/slipway-process';
import { until } from '@slipway/testing/wait';
import { type ControlPlane, resolveBinaries } from '@slipway/tools/controlplane';
import { type IsoServer, buildIso, startIsoServer } from '@slipway/tools/ironic';
import { run } from '@slipway/tools/run';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

const NAMESPACE = 'openshift-machine-api';
const access = join(import.meta.dirname, '../docs/examples/data-image-access.yaml');
const FINALIZER = 'dataimage.metal3.io';
const REBOOT = 'reboot.metal3.io';

let cluster: TestCluster;
let controlPlane: ControlPlane;
let admin: Client;
let isos: IsoServer;
let iso: string;
let made = 0;

const dataimage = (...args: string[]) => runInProcess('dataimage', ...args, '--kubeconfig', controlPlane.kubeconfig);
/** A separate process, with real signals. */
const running = (...args: string[]) => {
  const started = startSlipway('dataimage', ...args, '--kubeconfig', controlPlane.kubeconfig);
  onTestFinished(() => void started.child.kill('SIGKILL'));
  return started;
};

const patch = <T extends KubeObject>(resource: Resource<T>, name: string, body: object): Promise<Stored<T>> =>
  admin.patch(resource, { namespace: NAMESPACE, name }, { type: 'merge', body }, {});
const patchStatus = (resource: Resource, name: string, status: object) =>
  admin.patch(
    resource,
    { namespace: NAMESPACE, name },
    { type: 'merge', body: { status } },
    {},
    { subresource: 'status' },
  );
const findImage = (name: string): Promise<Stored<DataImage> | undefined> =>
  admin.find(dataImages, { namespace: NAMESPACE, name });
const findHost = (name: string): Promise<Stored<BareMetalHost>> =>
  admin.get(bareMetalHosts, { namespace: NAMESPACE, name });
const readAnnotations = async (name: string) => (await findHost(name)).metadata.annotations ?? {};

const setPower = (name: string, poweredOn: boolean) => patchStatus(bareMetalHosts, name, { poweredOn });

/** Externally provisioned and on, as reported by the controller. */
async function makeHost(more: { online?: boolean } = {}): Promise<string> {
  const name = `host-${++made}`;
  const spec = { online: more.online ?? true, externallyProvisioned: true };
  await admin.create(bareMetalHosts, { metadata: { namespace: NAMESPACE, name }, spec });
  await patchStatus(bareMetalHosts, name, {
    operationalStatus: 'OK',
    poweredOn: more.online ?? true,
    provisioning: { ID: '', state: 'externally provisioned' },
    errorMessage: '',
    errorCount: 0,
    provisioningFailCount: 0,
  });
  return name;
}

/** Writes the controller's status of a DataImage, with the finalizer that it adds first. */
async function reportAttached(
  name: string,
  reason: string,
  message: string,
  attached: string | null = null,
): Promise<void> {
  const { metadata } = await patch(dataImages, name, { metadata: { finalizers: [FINALIZER] } });
  const condition = {
    type: 'Attached',
    status: reason === 'Attached' ? 'True' : 'False',
    reason,
    message,
    observedGeneration: metadata.generation,
    lastTransitionTime: '2026-11-16T12:00:00Z',
  };
  const attachedImage = attached === null ? null : { url: attached };
  await patchStatus(dataImages, name, { attachedImage, conditions: [condition] });
}

const ONLY_REBOOTS = /rebooters change nothing but/;

/** Policies take effect a moment after their creation. */
const untilRefused = (act: () => Promise<unknown>, why: RegExp): Promise<void> =>
  until(() => expect(act()).rejects.toThrow(why));

beforeAll(async () => {
  [cluster, isos] = await Promise.all([startTestCluster(), startIsoServer()]);
  ({ controlPlane, admin } = cluster);
  iso = isos.put('site-config.iso', buildIso('configuration'));
  await admin.create(namespaces, { metadata: { name: NAMESPACE } });
}, 120_000);

afterAll(async () => {
  await Promise.all([cluster?.stop(), isos?.stop()]);
}, 60_000);

describe('slipway dataimage attach', () => {
  it('creates the DataImage, and reports that the host is not rebooted for it', async () => {
    const host = await makeHost();
    const { code, out, err } = await dataimage('attach', host, iso);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`DataImage ${NAMESPACE}/${host} requests ${iso}`);
    expect(out).toContain('To reboot it now, run the same command with --reboot.');
    expect((await findImage(host))?.spec).toEqual({ url: iso });
    expect(await readAnnotations(host)).not.toHaveProperty(REBOOT);
  });

  it('warns before it writes if the URL serves no ISO, and requests it anyway', async () => {
    const host = await makeHost();
    const page = isos.put('page.iso', Buffer.from('<html>'));
    const { code, out, err } = await dataimage('attach', host, page, '-o', 'json');
    expect(code).toBe(0);
    expect(err).toMatch(/^warning: .*page\.iso is not an ISO 9660 image.*\n$/);
    expect(JSON.parse(out)).toMatchObject({
      action: 'attach',
      host,
      url: page,
      changed: true,
      rebooted: false,
      reached: null,
      warnings: [expect.stringContaining('ISO 9660')],
    });
    expect((await dataimage('attach', host, page, '--no-check')).err).toBe('');
  });

  it('changes the URL of an existing DataImage, and removes `immediate` of the previous one', async () => {
    const host = await makeHost();
    await dataimage('attach', host, iso, '--immediate');
    expect((await findImage(host))?.spec).toEqual({ url: iso, immediate: true });
    const other = isos.put('other.iso', buildIso('other'));
    await dataimage('attach', host, other);
    expect((await findImage(host))?.spec).toEqual({ url: other });
    expect((await dataimage('attach', host, other)).out).toContain(`already requests ${other}. Nothing was written.`);
  });

  it('--reboot requests one reboot after the DataImage is written, and --wait follows it to the end', async () => {
    const host = await makeHost();
    const attaching = running('attach', host, iso, '--reboot', '--wait', '-o', 'json');
    await attaching.saw(/not looked at: no controller has reported/);
    expect(await readAnnotations(host)).toHaveProperty([REBOOT], '');
    await setPower(host, false);
    await patch(bareMetalHosts, host, { metadata: { annotations: { [REBOOT]: null } } });
    await reportAttached(host, 'Attaching', `${iso} is being attached`);
    await attaching.saw(/attaching: .* is being attached/);
    await reportAttached(host, 'AttachFailed', 'no such file. Failed 1 times');
    await attaching.saw(/failed: no such file/);
    await reportAttached(host, 'Attached', `${iso} is in the drive`, iso);
    await attaching.saw(/the host is being switched on/);
    await setPower(host, true);
    const { code, out } = await waitForExit(attaching);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ changed: true, rebooted: true, reached: true });

    const again = await dataimage('attach', host, iso, '--reboot', '--wait');
    expect(again.out).toContain('The ISO is attached.');
    expect(await readAnnotations(host)).not.toHaveProperty(REBOOT);
  });

  it('needs no reboot of a host that is off', async () => {
    const host = await makeHost({ online: false });
    const { out } = await dataimage('attach', host, iso, '--reboot');
    expect(out).toContain('now, because the host is off. The host stays off (spec.online is false).');
    expect(await readAnnotations(host)).not.toHaveProperty(REBOOT);
  });

  it('requests no reboot of a host that must not be switched off', async () => {
    const host = await makeHost();
    await patch(bareMetalHosts, host, { spec: { disablePowerOff: true } });
    const { code, err } = await dataimage('attach', host, iso, '--reboot');
    expect(code).toBe(1);
    expect(err).toMatch(/spec\.disablePowerOff of BareMetalHost .* is true.*--immediate/);
    expect(await readAnnotations(host)).not.toHaveProperty(REBOOT);
  });

  it('a request stays when the wait fails', async () => {
    const host = await makeHost();
    const attaching = running('attach', host, iso, '--wait', '--timeout', '1');
    const late = await waitForExit(attaching);
    expect(late.code).toBe(1);
    expect(late.err).toMatch(
      /did not reach the requested state within 1 s: .*The request stays\..*\[SLW_CLI_DATA_IMAGE_WAIT\]\n$/,
    );

    const interrupted = running('attach', host, iso, '--wait');
    await interrupted.saw(/not looked at/);
    interrupted.child.kill('SIGINT');
    expect(await waitForExit(interrupted)).toMatchObject({
      code: 130,
      err: expect.stringContaining('Stopped waiting'),
    });

    const hopeless = running('attach', host, iso, '--wait');
    await hopeless.saw(/not looked at/);
    await reportAttached(host, 'Unsupported', 'the driver ipmi cannot attach an ISO');
    expect(await waitForExit(hopeless)).toMatchObject({
      code: 1,
      err: expect.stringContaining('cannot reach the requested state'),
    });
    expect((await findImage(host))?.spec).toEqual({ url: iso });
  });

  it.each([
    ['a URL that Ironic does not fetch', ['host-1', 'ftp://10.0.0.5/a.iso'], 'SLW_CLI_DATA_IMAGE', 'expected http://'],
    ['both flags', ['host-1', 'http://10.0.0.5/a.iso', '--immediate', '--reboot'], 'SLW_CLI_USAGE', 'at most one of'],
    ['a missing host', ['hots-1', 'http://10.0.0.5/a.iso'], 'SLW_CLI_NO_HOST', 'Did you mean host-1'],
    [
      'a host of another namespace',
      ['host-1', 'http://10.0.0.5/a.iso', '--namespace', 'default'],
      'SLW_CLI_NO_HOST',
      `use --namespace ${NAMESPACE}`,
    ],
  ])('refuses %s', async (_, args, code, said) => {
    const { thrown, err, out } = await dataimage('attach', ...args);
    expect({ thrown, out }).toEqual({ thrown: code, out: '' });
    expect(err).toContain(said);
  });
});

describe('slipway dataimage detach', () => {
  it('deletes a DataImage that was never attached, without a reboot', async () => {
    const host = await makeHost();
    await dataimage('attach', host, iso);
    const { code, out } = await dataimage('detach', host, '--reboot', '--wait');
    expect(code).toBe(0);
    expect(out).toContain('Its ISO was not attached');
    expect(await findImage(host)).toBeUndefined();
    expect(await readAnnotations(host)).not.toHaveProperty(REBOOT);
    expect((await dataimage('detach', host)).out).toContain('There is nothing to detach');
  });

  it('reports that it waits for a reboot; --reboot requests it, and --wait follows it to the end', async () => {
    const host = await makeHost();
    await dataimage('attach', host, iso);
    await reportAttached(host, 'Attached', 'it is in', iso);
    const { out } = await dataimage('detach', host);
    expect(out).toContain(`kubectl annotate -n ${NAMESPACE} bmh ${host} reboot.metal3.io=`);
    expect((await dataimage('attach', host, iso)).thrown).toBe('SLW_CLI_DATA_IMAGE');

    const detaching = running('detach', host, '--reboot', '--wait');
    await detaching.saw(/was already being deleted/);
    await detaching.saw(/not looked at/);
    await reportAttached(host, 'DetachWaitsForReboot', 'it is still in', iso);
    await detaching.saw(/waits for a reboot: it is still in/);
    expect(await readAnnotations(host)).toHaveProperty([REBOOT], '');
    await patch(bareMetalHosts, host, { metadata: { annotations: { [REBOOT]: null } } });
    await patch(dataImages, host, { metadata: { finalizers: null } });
    expect(await waitForExit(detaching)).toMatchObject({
      code: 0,
      out: expect.stringContaining('is deleted, and its ISO is detached'),
    });
  });
});

describe('slipway dataimage status', () => {
  it('shows what is attached, what waits, and why', async () => {
    const [attached, waiting, plain] = [await makeHost(), await makeHost(), await makeHost()];
    for (const host of [attached, waiting]) await dataimage('attach', host, iso, '--no-check');
    await reportAttached(attached, 'Attached', 'it is in', iso);
    await reportAttached(waiting, 'WaitsForReboot', 'Nobody reboots it for that');
    const { code, out } = await dataimage('status');
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`${attached} +attached +on +${iso} +${iso}`));
    expect(out).toMatch(new RegExp(`${waiting} +waits for a reboot +on +- +${iso}`));
    expect(out).toContain(`${NAMESPACE}/${waiting}: Nobody reboots it for that`);

    const one = await dataimage('status', waiting, '-o', 'json');
    expect(JSON.parse(one.out)).toMatchObject({
      dataImages: [{ name: waiting, state: 'waits for a reboot', attached: null, host: { isOn: true } }],
    });
    const everywhere = JSON.parse((await dataimage('status', '-A', '-o', 'json')).out) as { dataImages: object[] };
    expect(everywhere.dataImages.length).toBeGreaterThan(2);
    expect((await dataimage('status', plain)).out).toBe(`BareMetalHost ${plain} has no DataImage.\n`);
    expect((await dataimage('status', '--namespace', 'default')).out).toContain('add --all-namespaces');
    expect((await dataimage('status', 'nobody')).thrown).toBe('SLW_CLI_NO_HOST');
  });
});

describe('the examples of who may attach what', () => {
  const good = 'https://isos.example.com/site-config.iso';
  const who: Record<string, string> = {};
  const as = (group: string, ...args: string[]) => runInProcess('dataimage', ...args, '--kubeconfig', who[group] ?? '');
  let client: Client;
  const rebooter = (name: string, body: object, options: WriteOptions = {}) =>
    client.patch(bareMetalHosts, { namespace: NAMESPACE, name }, { type: 'merge', body }, {}, options);

  beforeAll(async () => {
    const { kubectl } = await resolveBinaries(['kubectl']);
    await run(kubectl, ['--kubeconfig', controlPlane.kubeconfig, 'apply', '-f', access]);
    for (const name of ['viewers', 'attachers', 'rebooters']) {
      who[name] = await controlPlane.kubeconfigFor({ user: name, groups: [`dataimage-${name}`], name });
    }
    client = await connect(who['rebooters'] ?? '');
    const host = await makeHost();
    await untilRefused(() => rebooter(host, { spec: { online: false } }, { dryRun: true }), ONLY_REBOOTS);
    const attachers = await connect(who['attachers'] ?? '');
    const image = { metadata: { namespace: NAMESPACE, name: host }, spec: { url: iso } };
    await untilRefused(() => attachers.create(dataImages, image, { dryRun: true }), /ISOs come from/);
    await attachers.transport.close();
  }, 60_000);

  afterAll(() => client.transport.close());

  it('viewers can read but not change anything', async () => {
    const host = await makeHost();
    expect((await as('viewers', 'status')).code).toBe(0);
    expect((await as('viewers', 'attach', host, good, '--no-check')).thrown).toBe('SLW_KUBE_FORBIDDEN');
  });

  it('attachers attach only from that server, and cannot reboot', async () => {
    const host = await makeHost();
    const elsewhere = 'https://isos.example.com.evil.example/a.iso';
    expect((await as('attachers', 'attach', host, elsewhere, '--no-check')).err).toContain('ISOs come from');
    expect((await as('attachers', 'attach', host, good, '--no-check')).code).toBe(0);
    const { thrown, err } = await as('attachers', 'attach', host, good, '--no-check', '--reboot');
    expect(thrown).toBe('SLW_CLI_DATA_IMAGE');
    expect(err).toContain(`requests ${good}, but no reboot was requested`);
    expect((await as('attachers', 'detach', host)).code).toBe(0);
  });

  it('rebooters can reboot a host, and nothing else', async () => {
    const host = await makeHost();
    await rebooter(host, { metadata: { annotations: { [REBOOT]: '', [`${REBOOT}/upgrade`]: '' } } });
    await rebooter(host, { metadata: { annotations: { [`${REBOOT}/upgrade`]: null } } });
    expect(await readAnnotations(host)).toEqual({ [REBOOT]: '' });
    await patch(bareMetalHosts, host, { metadata: { annotations: { kept: 'yes' } } });
    for (const body of [
      { spec: { bmc: { address: 'redfish://evil.example', credentialsName: 'bmc' } } },
      { spec: { online: false } },
      { metadata: { annotations: { 'baremetalhost.metal3.io/detached': '' } } },
      { metadata: { annotations: { 'reboot.metal3.iox': '' } } },
      { metadata: { annotations: { kept: 'no' } } },
      { metadata: { annotations: { kept: null } } },
      { metadata: { finalizers: ['example.com/x'] } },
    ]) {
      await expect(rebooter(host, body)).rejects.toThrow(ONLY_REBOOTS);
    }
  });
});
