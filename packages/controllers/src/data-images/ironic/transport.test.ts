// Faults that a healthy Ironic cannot be made to show, and the result of a call then.
import type { ServerResponse } from 'node:http';
import { issueServing, makeAuthority } from '@slipway/base/certificates';
import type { IronicOptions } from '@slipway/fleet/hosts';
import { always } from '@slipway/testing/fake-http-server';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BMC_PASSWORD, createTestClient, expectFailure, talkTo, wanted } from './testing/ironic-client.ts';
import { nodeAnswer, respondFault, startMisbehavingIronic, UUID } from './testing/misbehaving-ironic.ts';
import { parseAuth, parseEndpoint } from './transport.ts';

const POWER = /PUT .*\/states\/power/;

interface Case {
  answer: (response: ServerResponse) => void;
  code: string;
  message: RegExp;
  /** Default false: the call may have taken effect. */
  isRefusal?: true;
  options?: Partial<IronicOptions>;
}

const cases: Record<string, Case> = {
  '400': {
    answer: respondFault(400, 'Invalid state'),
    code: 'REFUSED',
    message: /status 400: Invalid state/,
    isRefusal: true,
  },
  '401': {
    answer: respondFault(401, 'Authorization required'),
    code: 'UNAUTHORIZED',
    message: /Pass credentials that Ironic accepts/,
    isRefusal: true,
  },
  '404 of Ironic': {
    answer: respondFault(404, 'Node x could not be found.'),
    code: 'NOT_FOUND',
    message: /could not be found/,
    isRefusal: true,
  },
  '404 of a proxy': {
    answer: (response) => response.writeHead(404).end('<html>no such page</html>'),
    code: 'ANSWER',
    message: /found status 404\. Check that this is Ironic's address/,
  },
  'a redirect': {
    answer: (response) => response.writeHead(302, { location: 'http://elsewhere.example/' }).end(),
    code: 'ANSWER',
    message: /found status 302/,
  },
  '500': {
    answer: respondFault(500, 'Redfish connection failed'),
    code: 'SERVER',
    message: /status 500: Redfish connection failed.*whether the BMC of the host responds/,
  },
  '503 with no words': {
    answer: (response) => response.writeHead(503).end(),
    code: 'SERVER',
    message: /found status 503\./,
  },
  'an endless error': {
    answer: (response) => response.writeHead(500).end(Buffer.alloc(300_000, 'x')),
    code: 'LIMIT',
    message: /expected at most 65536 bytes/,
  },
  silence: {
    answer: () => {},
    code: 'SILENT',
    message: /expected a response, found none in time/,
    options: { timeoutMs: 200 },
  },
  'a trickle that never ends': {
    answer: (response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(drip));
    },
    code: 'SILENT',
    message: /found none in time/,
    options: { timeoutMs: 200 },
  },
  'a connection that is closed': {
    answer: (response) => response.socket?.destroy(),
    code: 'CUT',
    message: /found that the connection ended/,
  },
  'an answer that is cut': {
    answer: (response) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('{', () => response.socket?.destroy());
    },
    code: 'CUT',
    message: /in the middle of it/,
  },
  'something that is not HTTP': {
    answer: (response) => response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n'),
    code: 'ANSWER',
    message: /expected HTTP/,
  },
};

describe('an Ironic that responds to a change', () => {
  it.each(Object.entries(cases))(
    'with %s is called once, and the error explains it',
    async (_, { answer, code, message, isRefusal = false, options }) => {
      await using talk = await talkTo([always(POWER, answer)], options);
      const failure = await expectFailure(talk.ironic.power(UUID, 'power on'));
      expect(failure).toMatchObject({ code: `SLW_IRONIC_${code}`, isRefusal });
      expect(failure.message).toMatch(message);
      expect(failure.message).toContain(`Ironic at ${talk.server.host}: PUT /v1/nodes/${UUID}/states/power: `);
      expect(talk.server.calls).toHaveLength(1);
      expect(talk.ironic.slept).toEqual([]);
    },
  );

  it('with 503 and a Retry-After is not called again before that time', async () => {
    const pause = always(POWER, (response) => response.writeHead(503, { 'retry-after': '300' }).end());
    await using talk = await talkTo([pause]);
    await expectFailure(talk.ironic.power(UUID, 'power on'));
    const { code, message } = await expectFailure(talk.ironic.power(UUID, 'power on'));
    expect(code).toBe('SLW_IRONIC_SERVER');
    expect(message).toContain('it asked for a pause, of which 300 s are left');
    expect(talk.server.calls).toHaveLength(1);
  });

  it('by repeating the password does not leak it into a message', async () => {
    const repeats = always(/POST|PATCH/, respondFault(400, `bad: ${BMC_PASSWORD} swordfish`));
    await using talk = await talkTo([repeats], { auth: { username: 'slipway', password: 'swordfish' } });
    for (const failing of [talk.ironic.register({ ...wanted, name: 'a' }), talk.ironic.update(UUID, wanted)]) {
      const { message } = await expectFailure(failing);
      expect(message).toContain('bad: *** ***');
    }
  });

  it('with a screen full of text is quoted in one line', async () => {
    await using talk = await talkTo([always(POWER, respondFault(400, `one\n\u001b[31mtwo\n${'x'.repeat(5000)}`))]);
    const { message } = await expectFailure(talk.ironic.power(UUID, 'power on'));
    expect(message).toContain('status 400: one [31mtwo xxx');
    expect(message).not.toMatch(/\p{Cc}/u);
    expect(message.length).toBeLessThan(1000);
  });
});

describe('an Ironic that is asked for a node', () => {
  it.each([
    [
      'too much',
      JSON.stringify({ ...nodeAnswer, extra: 'x'.repeat(2_000_000) }),
      'SLW_IRONIC_LIMIT',
      /at most 1048576/,
    ],
    ['half a document', '{"uuid":', 'SLW_IRONIC_ANSWER', /expected JSON/],
  ])('and responds with %s is rejected', async (_, body, code, message) => {
    await using talk = await talkTo([always(/GET .*nodes/, (response) => response.end(body))]);
    const failure = await expectFailure(talk.ironic.node('a~b'));
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(message);
  });
});

describe('the connection to Ironic', () => {
  it('that cannot be made is reported', async () => {
    const server = await startMisbehavingIronic();
    await server[Symbol.asyncDispose]();
    await using ironic = createTestClient(server);
    const failure = await expectFailure(ironic.node('a'));
    expect(failure).toMatchObject({ code: 'SLW_IRONIC_UNREACHABLE', isRefusal: false });
    expect(failure.message).toContain('(ECONNREFUSED)');
  });

  it('is trusted with its CA, and never without', async () => {
    const now = new Date();
    const authority = await makeAuthority(now, 3_600_000);
    const { leaf, key } = await issueServing(authority, ['127.0.0.1'], now, 3_600_000);
    await using server = await startMisbehavingIronic({ cert: leaf, key });
    await using trusting = createTestClient(server, { ca: authority.certificate });
    expect(await trusting.node('a')).toMatchObject({ uuid: UUID });
    await using careful = createTestClient(server);
    expect((await expectFailure(careful.node('a'))).code).toBe('SLW_IRONIC_TLS');
    await using mistaken = createTestClient({ url: server.url.replace('https', 'http') });
    expect((await expectFailure(mistaken.node('a'))).code).toMatch(/SLW_IRONIC_(CUT|ANSWER)/);
  });

  it('in TLS to a plain http port is reported', async () => {
    await using server = await startMisbehavingIronic();
    await using ironic = createTestClient({ url: server.url.replace('http', 'https') });
    expect((await expectFailure(ironic.node('a'))).code).toBe('SLW_IRONIC_TLS');
  });

  it('is aborted with the caller’s reason', async () => {
    const stop = new AbortController();
    await using talk = await talkTo([always(POWER, () => stop.abort(new Error('enough')))]);
    await expect(talk.ironic.power(UUID, 'power on', { signal: stop.signal })).rejects.toThrow('enough');
  });

  it('ends all calls when it is closed', async () => {
    await using talk = await talkTo([]);
    talk.server.fail(
      always(POWER, () => {
        void talk.ironic.close();
      }),
    );
    expect((await expectFailure(talk.ironic.power(UUID, 'power on'))).code).toBe('SLW_IRONIC_CLOSED');
  });
});

describe('the address of Ironic', () => {
  it.each([
    ['http://ironic.example:6385', 'http://ironic.example:6385/'],
    ['http://ironic.example:6385/', 'http://ironic.example:6385/'],
    ['http://ironic.example:6385/v1', 'http://ironic.example:6385/'],
    ['https://ironic.example/baremetal/v1/', 'https://ironic.example/baremetal'],
    ['https://[2001:db8::1]:6385/v1/', 'https://[2001:db8::1]:6385/'],
    ['https://ironic.example/v1x', 'https://ironic.example/v1x'],
  ])('%s is %s without its version', (text, expected) => {
    expect(parseEndpoint(text).href).toBe(expected);
  });
});

describe('the credentials', () => {
  it('are one line, and the first colon ends the name', () => {
    expect(parseAuth('admin:a:b c\n')).toEqual({ username: 'admin', password: 'a:b c' });
  });

  it.each([
    ['only a colon', ':'],
    ['nothing', ''],
    ['no colon', 'admin'],
    ['no name', ':x'],
    ['no password', 'admin:'],
    ['two lines', 'a:b\nc:d'],
    ['too long', `a:${'x'.repeat(5000)}`],
  ])('with %s are refused without showing them', (_, text) => {
    expect(() => parseAuth(text)).toThrow(/expected one line, USERNAME:PASSWORD, found something else$/);
  });

  it('of any name and password without control characters are preserved', () => {
    const printable = fc.string({ minLength: 1, maxLength: 50 }).filter((text) => !/\p{Cc}/u.test(text));
    fc.assert(
      fc.property(printable, printable, (name, password) => {
        const username = name.replaceAll(':', '-');
        expect(parseAuth(`${username}:${password}\n`)).toEqual({ username, password });
      }),
    );
  });
});
