import { describe, expect, it } from 'vitest';
import { makeAuthority } from '../../certificates/authority.ts';
import { issueServing } from '../../certificates/serving-certificate.ts';
import { createIronic } from './client.ts';
import { IronicError } from './ironic-error.ts';
import type { Ironic, IronicOptions } from './ironic.ts';
import { clientOf } from './testing/ironic-client.ts';
import { always, firstTimes, nodeAnswer, says, startMisbehavingIronic, uuid } from './testing/misbehaving-ironic.ts';
import type { Fault } from './testing/misbehaving-ironic.ts';

const password = 'hunter2';
const wanted = {
  driver: 'redfish',
  driverInfo: { redfish_address: 'https://bmc.example', redfish_username: 'admin', redfish_password: password },
  hostUid: 'host-uid',
  digest: 'd1',
};

async function failureOf(work: Promise<unknown>): Promise<IronicError> {
  const error = await work.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  if (!(error instanceof IronicError)) throw error;
  expect(`${error.stack} ${String(error.cause)}`).not.toContain(password);
  return error;
}

interface Case {
  fault: Fault;
  code: string;
  message: RegExp;
  isRefusal: boolean;
  options?: Partial<IronicOptions>;
}

const power = /PUT .*\/states\/power/;

const cases: Record<string, Case> = {
  '400': {
    fault: always(power, says(400, 'Invalid state')),
    code: 'REFUSED',
    message: /status 400: Invalid state/,
    isRefusal: true,
  },
  '401': {
    fault: always(power, says(401, 'Authorization required')),
    code: 'UNAUTHORIZED',
    message: /Give credentials that Ironic accepts/,
    isRefusal: true,
  },
  '404 of Ironic': {
    fault: always(power, says(404, 'Node x could not be found.')),
    code: 'NOT_FOUND',
    message: /could not be found/,
    isRefusal: true,
  },
  '404 of somebody else': {
    fault: always(power, (response) => response.writeHead(404).end('<html>no such page</html>')),
    code: 'ANSWER',
    message: /found status 404\. Check that this is the address of an Ironic/,
    isRefusal: false,
  },
  'a redirect': {
    fault: always(power, (response) => response.writeHead(302, { location: 'http://elsewhere.example/' }).end()),
    code: 'ANSWER',
    message: /found status 302/,
    isRefusal: false,
  },
  '500': {
    fault: always(power, says(500, 'Redfish connection failed')),
    code: 'SERVER',
    message: /status 500: Redfish connection failed.*whether the BMC of the host answers/,
    isRefusal: false,
  },
  '503 with no words': {
    fault: always(power, (response) => response.writeHead(503).end()),
    code: 'SERVER',
    message: /found status 503\./,
    isRefusal: false,
  },
  'an endless error': {
    fault: always(power, (response) => response.writeHead(500).end(Buffer.alloc(300_000, 'x'))),
    code: 'LIMIT',
    message: /expected at most 65536 bytes/,
    isRefusal: false,
  },
  silence: {
    fault: always(power, () => {}),
    code: 'SILENT',
    message: /expected an answer, found none in time/,
    isRefusal: false,
    options: { timeoutMs: 200 },
  },
  'a trickle that never ends': {
    fault: always(power, (response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(drip));
    }),
    code: 'SILENT',
    message: /found none in time/,
    isRefusal: false,
    options: { timeoutMs: 200 },
  },
  'a connection that is closed': {
    fault: always(power, (response) => response.socket?.destroy()),
    code: 'CUT',
    message: /found that the connection ended/,
    isRefusal: false,
  },
  'an answer that is cut': {
    fault: always(power, (response) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('{', () => response.socket?.destroy());
    }),
    code: 'CUT',
    message: /in the middle of it/,
    isRefusal: false,
  },
  'something that is not HTTP': {
    fault: always(power, (response) => response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n')),
    code: 'ANSWER',
    message: /expected HTTP/,
    isRefusal: false,
  },
};

describe('an Ironic that answers a change', () => {
  it.each(Object.keys(cases))('with %s is asked once, and the error says what it means', async (name) => {
    await using server = await startMisbehavingIronic();
    const { fault, code, message, isRefusal, options } = cases[name] as Case;
    await using ironic = clientOf(server, options);
    server.fail(fault);
    const failure = await failureOf(ironic.power(uuid, 'power on'));
    expect(failure).toMatchObject({ code: `SLW_IRONIC_${code}`, isRefusal });
    expect(failure.message).toMatch(message);
    expect(failure.message).toContain(`Ironic at ${server.host}: PUT /v1/nodes/${uuid}/states/power: `);
    expect(server.calls).toHaveLength(1);
    expect(ironic.slept).toEqual([]);
  });

  it('with 409 is asked again, a little later each time, and does it once', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(firstTimes(3, power, says(409, 'Node is locked by host a')));
    await ironic.power(uuid, 'power on');
    expect(server.calls).toHaveLength(4);
    for (const [round, ms] of ironic.slept.entries()) {
      expect(ms).toBeGreaterThanOrEqual(125 * 2 ** round);
      expect(ms).toBeLessThanOrEqual(250 * 2 ** round);
    }
  });

  it('with 409 for ever is left alone, and the error says who is in the way', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server, { conflictRetries: 2 });
    server.fail(always(power, says(409, 'Node is locked by host a')));
    const failure = await failureOf(ironic.power(uuid, 'power on'));
    expect(failure).toMatchObject({ code: 'SLW_IRONIC_CONFLICT', isRefusal: false, status: 409 });
    expect(failure.message).toContain('locked by host a');
    expect(server.calls).toHaveLength(3);
  });

  it('by repeating the password does not get it into a message', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server, { auth: { username: 'slipway', password: 'swordfish' } });
    server.fail(always(/POST|PATCH/, says(400, `bad: ${password} swordfish`)));
    for (const failing of [ironic.register({ ...wanted, name: 'a' }), ironic.update(uuid, wanted)]) {
      const { message } = await failureOf(failing);
      expect(message).toContain('bad: *** ***');
    }
  });

  it('with a screen full of text is quoted in one line', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(always(power, says(400, `one\n\u001b[31mtwo\n${'x'.repeat(5000)}`)));
    const { message } = await failureOf(ironic.power(uuid, 'power on'));
    expect(message).toContain('status 400: one [31mtwo xxx');
    expect(message).not.toMatch(/\p{Cc}/u);
    expect(message.length).toBeLessThan(1000);
  });
});

describe('an Ironic that is asked about a node', () => {
  const reads = (body: unknown): Fault => always(/GET .*nodes/, (response) => response.end(JSON.stringify(body)));

  it('and does not know it, says so; a proxy that knows no such page does not', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(firstTimes(1, /nodes/, says(404, 'Node a~b could not be found.')));
    server.fail(always(/nodes/, (response) => response.writeHead(404).end('not found')));
    expect(await ironic.node('a~b')).toBeNull();
    expect((await failureOf(ironic.node('a~b'))).code).toBe('SLW_IRONIC_ANSWER');
  });

  it.each<[string, unknown]>([
    ['a list', []],
    ['nothing', null],
    ['no UUID', { ...nodeAnswer, uuid: undefined }],
    ['a UUID that is a path', { ...nodeAnswer, uuid: '../../v1/nodes' }],
    ['a state that is a number', { ...nodeAnswer, provision_state: 7 }],
    ['no reservation at all', { ...nodeAnswer, reservation: undefined }],
    ['an error that is an object', { ...nodeAnswer, last_error: {} }],
    ['maintenance as text', { ...nodeAnswer, maintenance: 'false' }],
  ])('and answers with %s is not believed', async (_, body) => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(reads(body));
    expect((await failureOf(ironic.node('a~b'))).code).toBe('SLW_IRONIC_ANSWER');
  });

  it.each<[string, unknown]>([
    ['nothing', {}],
    ['a note of somebody', { slipway: 'hello' }],
    ['numbers', { slipway: { uid: 1, digest: 2 } }],
    ['null', null],
  ])('which has %s where we leave our mark, is one that we did not make', async (_, extra) => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(reads({ ...nodeAnswer, extra }));
    expect(await ironic.node('a~b')).toMatchObject({ sentDigest: null, hostUid: null });
  });

  it('and answers with too much is cut off', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(reads({ ...nodeAnswer, extra: 'x'.repeat(2_000_000) }));
    expect((await failureOf(ironic.node('a~b'))).code).toBe('SLW_IRONIC_LIMIT');
  });

  it('and answers with half a document is not believed', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(always(/nodes/, (response) => response.end('{"uuid":')));
    expect((await failureOf(ironic.node('a~b'))).message).toContain('expected JSON');
  });

  it('shows an error of many lines as one, and not without end', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(reads({ ...nodeAnswer, last_error: `Could not\nattach ${'x'.repeat(9000)}` }));
    const node = await ironic.node('a~b');
    expect(node?.lastError).toMatch(/^Could not attach x+…$/);
    expect(node?.lastError?.length).toBeLessThanOrEqual(2001);
  });
});

describe('a drive', () => {
  const cd = { media_types: ['CD', 'DVD'], inserted: false, image: '' };
  const shows = (body: unknown): Fault => always(/GET .*vmedia/, (response) => response.end(JSON.stringify(body)));

  it.each<[string, unknown, object]>([
    ['empty', [cd], { inserted: false, image: '' }],
    [
      'beside a floppy with something in it',
      [{ ...cd, media_types: ['Floppy'], inserted: true }, cd],
      { inserted: false },
    ],
    [
      'with an image',
      [{ ...cd, inserted: true, image: 'http://a/b.iso' }],
      { inserted: true, image: 'http://a/b.iso' },
    ],
    ['the second of two', [cd, { media_types: ['DVD'], inserted: true, image: 'b' }], { inserted: true, image: 'b' }],
    [
      'of a BMC that leaves out what is not there',
      [{ media_types: ['CD'], inserted: null, image: null }],
      { inserted: false, image: '' },
    ],
  ])('is read: %s', async (_, body, expected) => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(shows(body));
    expect(await ironic.drive(uuid)).toMatchObject(expected);
  });

  it.each<[string, unknown, string]>([
    ['no list', {}, 'SLW_IRONIC_ANSWER'],
    ['too many devices', Array.from({ length: 100 }, () => cd), 'SLW_IRONIC_ANSWER'],
    ['a device that is none', ['cd'], 'SLW_IRONIC_ANSWER'],
    ['"inserted" as text', [{ ...cd, inserted: 'true' }], 'SLW_IRONIC_ANSWER'],
    ['an image without end', [{ ...cd, image: 'x'.repeat(5000) }], 'SLW_IRONIC_ANSWER'],
    ['no drive for discs', [{ ...cd, media_types: ['Floppy'] }], 'SLW_IRONIC_NO_DRIVE'],
    ['no device at all', [], 'SLW_IRONIC_NO_DRIVE'],
  ])('cannot be read from %s', async (_, body, code) => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(shows(body));
    expect((await failureOf(ironic.drive(uuid))).code).toBe(code);
  });

  it('has a time of its own, since Ironic asks the BMC', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server, { timeoutMs: 10_000, driveTimeoutMs: 100 });
    server.fail(always(/vmedia/, () => {}));
    expect((await failureOf(ironic.drive(uuid))).code).toBe('SLW_IRONIC_SILENT');
  });
});

describe('the version of the API', () => {
  const offers = (minimum: string, maximum: string): Fault =>
    always(/^GET \/v1$/, (response) => {
      const headers = {
        'x-openstack-ironic-api-minimum-version': minimum,
        'x-openstack-ironic-api-maximum-version': maximum,
      };
      response.writeHead(200, headers).end('{}');
    });

  it('is asked for once, however many calls there are at the beginning', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    await Promise.all([ironic.node('a'), ironic.node('b'), ironic.drive(uuid)]);
    expect(server.seen.filter(({ call }) => call === 'GET /v1')).toHaveLength(1);
    const spoken = server.seen.slice(1).map(({ headers }) => headers['x-openstack-ironic-api-version']);
    expect(spoken).toEqual(['1.93', '1.93', '1.93']);
  });

  it('is asked for again where that failed', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(firstTimes(1, /^GET \/v1$/, (response) => response.writeHead(503).end()));
    expect((await failureOf(ironic.node('a'))).code).toBe('SLW_IRONIC_SERVER');
    expect(await ironic.node('a')).toMatchObject({ uuid });
  });

  it('is asked for again where another Ironic has come to stand there, and the call is made again', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(firstTimes(1, power, says(406, 'Version 1.93 was requested')));
    await ironic.power(uuid, 'power on');
    expect(server.seen.map(({ call }) => call.replace(uuid, 'U'))).toEqual([
      'GET /v1',
      'PUT /v1/nodes/U/states/power',
      'GET /v1',
      'PUT /v1/nodes/U/states/power',
    ]);
  });

  it.each([
    ['1.1', '1.92', 'SLW_IRONIC_VERSION', /expected version 1\.93 of its API or newer, found 1\.1 to 1\.92/],
    ['2.0', '2.7', 'SLW_IRONIC_ANSWER', /expected the versions of its API/],
    ['', '', 'SLW_IRONIC_ANSWER', /Check that this is the address of an Ironic/],
  ])('from %s to %s will not do, and nothing is sent', async (minimum, maximum, code, message) => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(offers(minimum, maximum));
    const failure = await failureOf(ironic.power(uuid, 'power on'));
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(message);
    expect(server.calls).toEqual([]);
  });

  it('is the oldest that a later Ironic still speaks', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(offers('1.100', '1.200'));
    await ironic.node('a');
    expect(server.seen[1]?.headers['x-openstack-ironic-api-version']).toBe('1.100');
  });
});

describe('what is sent', () => {
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
      'says anew how to reach the BMC, all in one',
      (ironic) => ironic.update(uuid, wanted),
      `PATCH /v1/nodes/${uuid}`,
      [
        { op: 'add', path: '/driver', value: 'redfish' },
        { op: 'add', path: '/driver_info', value: wanted.driverInfo },
        { op: 'add', path: '/extra/slipway', value: { uid: 'host-uid', digest: 'd1' } },
      ],
    ],
    [
      'gives an operating system its time',
      (ironic) => ironic.power(uuid, 'soft power off', { withinMs: 180_000 }),
      `PUT /v1/nodes/${uuid}/states/power`,
      { target: 'soft power off', timeout: 180 },
    ],
    [
      'attaches an ISO',
      (ironic) => ironic.attach(uuid, 'http://a/b.iso'),
      `POST /v1/nodes/${uuid}/vmedia`,
      { device_type: 'cdrom', image_url: 'http://a/b.iso' },
    ],
    ['detaches it', (ironic) => ironic.detach(uuid), `DELETE /v1/nodes/${uuid}/vmedia?device_types=cdrom`, undefined],
    [
      'ends maintenance',
      (ironic) => ironic.setMaintenance(uuid, false),
      `DELETE /v1/nodes/${uuid}/maintenance`,
      undefined,
    ],
    ['removes a node', (ironic) => ironic.remove(uuid), `DELETE /v1/nodes/${uuid}`, undefined],
  ];

  it.each(calls)('%s', async (_, call, expected, body) => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    await call(ironic);
    expect(server.calls).toEqual([expected]);
    expect(server.seen.at(-1)?.body).toEqual(body);
  });

  it('removes no node twice: one that is gone is fine', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(always(/DELETE/, says(404, 'Node could not be found.')));
    await expect(ironic.remove(uuid)).resolves.toBeUndefined();
  });

  it('stays on its path, whatever a name is', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    await ironic.node('../drivers?x=1#y');
    expect(server.calls[0]).toMatch(/^GET \/v1\/nodes\/\.\.%2Fdrivers%3Fx%3D1%23y\?fields=uuid,/);
  });

  it('goes below the path of the address, with the credentials, and with none where there are none', async () => {
    await using server = await startMisbehavingIronic();
    server.fail(
      always(/^GET \/baremetal\/v1$/, (response) => {
        response
          .writeHead(200, {
            'x-openstack-ironic-api-minimum-version': '1.1',
            'x-openstack-ironic-api-maximum-version': '1.93',
          })
          .end();
      }),
    );
    const url = `${server.url}/baremetal/v1/`;
    await using known = clientOf({ url }, { auth: { username: 'ü', password: 'a:b' } });
    await known.detach(uuid);
    expect(server.calls.at(-1)).toBe(`DELETE /baremetal/v1/nodes/${uuid}/vmedia?device_types=cdrom`);
    expect(server.seen.at(-1)?.headers.authorization).toBe(`Basic ${Buffer.from('ü:a:b').toString('base64')}`);
    await using unknown = clientOf(server);
    await unknown.detach(uuid);
    expect(server.seen.at(-1)?.headers.authorization).toBeUndefined();
  });
});

describe('the way to Ironic', () => {
  it('that leads nowhere says so', async () => {
    const server = await startMisbehavingIronic();
    await server[Symbol.asyncDispose]();
    await using ironic = clientOf(server);
    const failure = await failureOf(ironic.node('a'));
    expect(failure).toMatchObject({ code: 'SLW_IRONIC_UNREACHABLE', isRefusal: false });
    expect(failure.message).toContain('(ECONNREFUSED)');
  });

  it('is trusted with its CA, and without it never', async () => {
    const now = new Date();
    const authority = await makeAuthority(now, 3_600_000);
    const { leaf, key } = await issueServing(authority, ['127.0.0.1'], now, 3_600_000);
    await using server = await startMisbehavingIronic({ cert: leaf, key });
    await using trusting = clientOf(server, { ca: authority.certificate });
    expect(await trusting.node('a')).toMatchObject({ uuid });
    await using careful = clientOf(server);
    expect((await failureOf(careful.node('a'))).code).toBe('SLW_IRONIC_TLS');
    await using mistaken = clientOf({ url: server.url.replace('https', 'http') });
    expect((await failureOf(mistaken.node('a'))).code).toMatch(/SLW_IRONIC_(CUT|ANSWER)/);
  });

  it('of plain http, spoken to in TLS, says that', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf({ url: server.url.replace('http', 'https') });
    expect((await failureOf(ironic.node('a'))).code).toBe('SLW_IRONIC_TLS');
  });

  it('is given up when somebody says so, with their reason', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    const stop = new AbortController();
    server.fail(
      always(power, () => {
        stop.abort(new Error('enough'));
      }),
    );
    await expect(ironic.power(uuid, 'power on', { signal: stop.signal })).rejects.toThrow('enough');
  });

  it('is closed: what was under way ends', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = clientOf(server);
    server.fail(
      always(power, () => {
        void ironic.close();
      }),
    );
    expect((await failureOf(ironic.power(uuid, 'power on'))).code).toBe('SLW_IRONIC_CLOSED');
  });

  it.each([
    ['a time of 0', { timeoutMs: 0 }],
    ['no number', { driveTimeoutMs: Number.NaN }],
    ['a CA that is none', { url: 'https://ironic.example', ca: 'hello' }],
    [
      'a CA that is broken',
      { url: 'https://ironic.example', ca: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
    ],
    ['no URL', { url: 'ironic.example:6385' }],
    ['another scheme', { url: 'ftp://ironic.example' }],
    ['a password in the URL', { url: `http://admin:${password}@ironic.example` }],
    ['a query', { url: 'http://ironic.example/?a=b' }],
  ])('with %s is refused at once', async (_, options) => {
    const failure = await failureOf(
      Promise.resolve().then(() => createIronic({ url: 'http://ironic.example', ...options })),
    );
    expect(failure.code).toBe('SLW_IRONIC_OPTIONS');
  });
});
