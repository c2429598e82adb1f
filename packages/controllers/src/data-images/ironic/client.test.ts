import type { Ironic } from '@slipway/fleet/hosts';
import { always, firstTimes } from '@slipway/testing/fake-http-server';
import { describe, expect, it } from 'vitest';
import { createIronic, negotiate } from './client.ts';
import { BMC_PASSWORD, createTestClient, expectFailure, talkTo, wanted } from './testing/ironic-client.ts';
import { respondFault, UUID } from './testing/misbehaving-ironic.ts';

describe('the client', () => {
  const calls: [string, (ironic: Ironic) => Promise<unknown>, string, unknown][] = [
    [
      'registers a node with our mark',
      (ironic) => ironic.register({ ...wanted, name: 'ns~a' }),
      'POST /v1/nodes',
      {
        name: 'ns~a',
        driver: 'redfish',
        driver_info: wanted.driverInfo,
        extra: { slipway: { uid: 'host-uid', digest: 'd1' } },
      },
    ],
    [
      'updates the BMC settings in one request',
      (ironic) => ironic.update(UUID, wanted),
      `PATCH /v1/nodes/${UUID}`,
      [
        { op: 'add', path: '/driver', value: 'redfish' },
        { op: 'add', path: '/driver_info', value: wanted.driverInfo },
        { op: 'add', path: '/extra/slipway', value: { uid: 'host-uid', digest: 'd1' } },
      ],
    ],
    [
      'gives an operating system time to shut down',
      (ironic) => ironic.power(UUID, 'soft power off', { withinMs: 180_000 }),
      `PUT /v1/nodes/${UUID}/states/power`,
      { target: 'soft power off', timeout: 180 },
    ],
    [
      'attaches an ISO',
      (ironic) => ironic.attach(UUID, 'http://a/b.iso'),
      `POST /v1/nodes/${UUID}/vmedia`,
      { device_type: 'cdrom', image_url: 'http://a/b.iso' },
    ],
    ['detaches it', (ironic) => ironic.detach(UUID), `DELETE /v1/nodes/${UUID}/vmedia?device_types=cdrom`, undefined],
    [
      'ends maintenance',
      (ironic) => ironic.setMaintenance(UUID, false),
      `DELETE /v1/nodes/${UUID}/maintenance`,
      undefined,
    ],
    ['deletes a node', (ironic) => ironic.remove(UUID), `DELETE /v1/nodes/${UUID}`, undefined],
  ];

  it.each(calls)('%s', async (_, call, expected, body) => {
    await using talk = await talkTo([]);
    await call(talk.ironic);
    expect(talk.server.calls).toEqual([expected]);
    expect(talk.server.requests.at(-1)?.body).toBe(body === undefined ? '' : JSON.stringify(body));
  });

  it('escapes names in paths', async () => {
    await using talk = await talkTo([]);
    await talk.ironic.node('../drivers?x=1#y');
    expect(talk.server.calls[0]).toMatch(/^GET \/v1\/nodes\/\.\.%2Fdrivers%3Fx%3D1%23y\?fields=uuid,/);
  });

  it('keeps the path of the address, and sends credentials only if there are any', async () => {
    const versions = {
      'x-openstack-ironic-api-minimum-version': '1.1',
      'x-openstack-ironic-api-maximum-version': '1.93',
    };
    await using talk = await talkTo([
      always(/^GET \/baremetal\/v1$/, (response) => response.writeHead(200, versions).end()),
    ]);
    const { server } = talk;
    const url = `${server.url}/baremetal/v1/`;
    await using known = createTestClient({ url }, { auth: { username: 'ü', password: 'a:b' } });
    await known.detach(UUID);
    expect(server.calls.at(-1)).toBe(`DELETE /baremetal/v1/nodes/${UUID}/vmedia?device_types=cdrom`);
    expect(server.requests.at(-1)?.headers.authorization).toBe(`Basic ${Buffer.from('ü:a:b').toString('base64')}`);
    await talk.ironic.detach(UUID);
    expect(server.requests.at(-1)?.headers.authorization).toBeUndefined();
  });
});

describe('a node', () => {
  const locked = respondFault(409, 'Node is locked by host a');

  it('that Ironic does not have is null; a 404 of a proxy is an error', async () => {
    await using talk = await talkTo([
      firstTimes(1, /nodes/, respondFault(404, 'Node a~b could not be found.')),
      always(/nodes/, (response) => response.writeHead(404).end('not found')),
    ]);
    expect(await talk.ironic.node('a~b')).toBeNull();
    expect((await expectFailure(talk.ironic.node('a~b'))).code).toBe('SLW_IRONIC_ANSWER');
  });

  it('that is already gone counts as deleted', async () => {
    await using talk = await talkTo([always(/DELETE/, respondFault(404, 'Node could not be found.'))]);
    await expect(talk.ironic.remove(UUID)).resolves.toBeUndefined();
  });

  it('that is locked is retried with backoff, and changed once', async () => {
    await using talk = await talkTo([firstTimes(3, /PUT/, locked)]);
    await talk.ironic.power(UUID, 'power on');
    expect(talk.server.calls).toHaveLength(4);
    for (const [round, ms] of talk.ironic.slept.entries()) {
      expect(ms).toBeGreaterThanOrEqual(125 * 2 ** round);
      expect(ms).toBeLessThanOrEqual(250 * 2 ** round);
    }
  });

  it('that stays locked is not changed, and the error names who holds the lock', async () => {
    await using talk = await talkTo([always(/PUT/, locked)], { conflictRetries: 2 });
    const failure = await expectFailure(talk.ironic.power(UUID, 'power on'));
    expect(failure).toMatchObject({ code: 'SLW_IRONIC_CONFLICT', isRefusal: false, status: 409 });
    expect(failure.message).toContain('locked by host a');
    expect(talk.server.calls).toHaveLength(3);
  });

  it('has a separate timeout for its drive, because Ironic calls the BMC', async () => {
    await using talk = await talkTo([always(/vmedia/, () => {})], { driveTimeoutMs: 100 });
    expect((await expectFailure(talk.ironic.drive(UUID))).code).toBe('SLW_IRONIC_SILENT');
  });
});

describe('a client', () => {
  it.each([
    ['a timeout of 0', { timeoutMs: 0 }],
    ['no number', { driveTimeoutMs: Number.NaN }],
    ['a CA that is not a certificate', { url: 'https://ironic.example', ca: 'hello' }],
    [
      'a damaged CA',
      { url: 'https://ironic.example', ca: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
    ],
    ['no URL', { url: 'ironic.example:6385' }],
    ['another scheme', { url: 'ftp://ironic.example' }],
    ['a password in the URL', { url: `http://admin:${BMC_PASSWORD}@ironic.example` }],
    ['a query', { url: 'http://ironic.example/?a=b' }],
  ])('with %s is refused immediately', async (_, options) => {
    const failure = await expectFailure(
      Promise.resolve().then(() => createIronic({ url: 'http://ironic.example', ...options })),
    );
    expect(failure.code).toBe('SLW_IRONIC_OPTIONS');
  });
});

const offer = (minimum: string, maximum: string) => ({
  'x-openstack-ironic-api-minimum-version': minimum,
  'x-openstack-ironic-api-maximum-version': maximum,
});
const ASKS_FOR_VERSIONS = /^GET \/v1$/;

describe('the version of the API', () => {
  it.each([
    ['1.1', '1.93', '1.93'],
    ['1.1', '1.115', '1.93'],
    ['1.100', '1.200', '1.100'],
  ])('of an Ironic with %s to %s is %s: the oldest that suffices', (minimum, maximum, expected) => {
    expect(negotiate(offer(minimum, maximum), 'ironic.example')).toBe(expected);
  });

  it.each([
    ['1.1', '1.92', 'SLW_IRONIC_VERSION', /expected version 1\.93 or newer of its API, found 1\.1 to 1\.92/],
    ['2.0', '2.7', 'SLW_IRONIC_ANSWER', /expected the API versions/],
    ['', '', 'SLW_IRONIC_ANSWER', /Check that this is Ironic's address/],
  ])('from %s to %s does not suffice, and nothing is sent', async (minimum, maximum, code, message) => {
    const offers = always(ASKS_FOR_VERSIONS, (response) => response.writeHead(200, offer(minimum, maximum)).end('{}'));
    await using talk = await talkTo([offers]);
    const failure = await expectFailure(talk.ironic.power(UUID, 'power on'));
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(message);
    expect(talk.server.calls).toEqual([]);
  });

  it('is requested once, even by many concurrent first calls', async () => {
    await using talk = await talkTo([]);
    await Promise.all([talk.ironic.node('a'), talk.ironic.node('b'), talk.ironic.drive(UUID)]);
    const { requests } = talk.server;
    expect(requests.filter(({ call }) => ASKS_FOR_VERSIONS.test(call))).toHaveLength(1);
    const spoken = requests.slice(1).map(({ headers }) => headers['x-openstack-ironic-api-version']);
    expect(spoken).toEqual(['1.93', '1.93', '1.93']);
  });

  it('is requested again after a failure', async () => {
    await using talk = await talkTo([firstTimes(1, ASKS_FOR_VERSIONS, (response) => response.writeHead(503).end())]);
    expect((await expectFailure(talk.ironic.node('a'))).code).toBe('SLW_IRONIC_SERVER');
    expect(await talk.ironic.node('a')).toMatchObject({ uuid: UUID });
  });

  it('is negotiated again if another Ironic has the address, and the call is repeated', async () => {
    await using talk = await talkTo([firstTimes(1, /^PUT/, respondFault(406, 'Version 1.93 was requested'))]);
    await talk.ironic.power(UUID, 'power on');
    const power = `PUT /v1/nodes/${UUID}/states/power`;
    expect(talk.server.requests.map(({ call }) => call)).toEqual(['GET /v1', power, 'GET /v1', power]);
  });
});
