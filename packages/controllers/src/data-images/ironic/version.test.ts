import { describe, expect, it } from 'vitest';
import { failureOf, talkTo } from './testing/ironic-client.ts';
import { always, firstTimes, says, uuid } from './testing/misbehaving-ironic.ts';
import { negotiate } from './version.ts';

const offer = (minimum: string, maximum: string) => ({
  'x-openstack-ironic-api-minimum-version': minimum,
  'x-openstack-ironic-api-maximum-version': maximum,
});
const asksForVersions = /^GET \/v1$/;

describe('the version of the API', () => {
  it.each([
    ['1.1', '1.93', '1.93'],
    ['1.1', '1.115', '1.93'],
    ['1.100', '1.200', '1.100'],
  ])('of one that speaks %s to %s is %s: the oldest that will do', (minimum, maximum, expected) => {
    expect(negotiate(offer(minimum, maximum), 'ironic.example')).toBe(expected);
  });

  it.each([
    ['1.1', '1.92', 'SLW_IRONIC_VERSION', /expected version 1\.93 of its API or newer, found 1\.1 to 1\.92/],
    ['2.0', '2.7', 'SLW_IRONIC_ANSWER', /expected the versions of its API/],
    ['', '', 'SLW_IRONIC_ANSWER', /Check that this is the address of an Ironic/],
  ])('from %s to %s will not do, and nothing is sent', async (minimum, maximum, code, message) => {
    const offers = always(asksForVersions, (response) => response.writeHead(200, offer(minimum, maximum)).end('{}'));
    await using talk = await talkTo([offers]);
    const failure = await failureOf(talk.ironic.power(uuid, 'power on'));
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(message);
    expect(talk.server.calls).toEqual([]);
  });

  it('is asked for once, however many calls there are at the beginning', async () => {
    await using talk = await talkTo([]);
    await Promise.all([talk.ironic.node('a'), talk.ironic.node('b'), talk.ironic.drive(uuid)]);
    const { seen } = talk.server;
    expect(seen.filter(({ call }) => asksForVersions.test(call))).toHaveLength(1);
    const spoken = seen.slice(1).map(({ headers }) => headers['x-openstack-ironic-api-version']);
    expect(spoken).toEqual(['1.93', '1.93', '1.93']);
  });

  it('is asked for again where that failed', async () => {
    await using talk = await talkTo([firstTimes(1, asksForVersions, (response) => response.writeHead(503).end())]);
    expect((await failureOf(talk.ironic.node('a'))).code).toBe('SLW_IRONIC_SERVER');
    expect(await talk.ironic.node('a')).toMatchObject({ uuid });
  });

  it('is asked for again where another Ironic has come to stand there, and the call is made again', async () => {
    await using talk = await talkTo([firstTimes(1, /^PUT/, says(406, 'Version 1.93 was requested'))]);
    await talk.ironic.power(uuid, 'power on');
    const power = `PUT /v1/nodes/${uuid}/states/power`;
    expect(talk.server.seen.map(({ call }) => call)).toEqual(['GET /v1', power, 'GET /v1', power]);
  });
});
